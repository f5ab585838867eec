"""Languages of short sounds by openai-whisper, without thirty seconds of silence behind them.

openai-whisper's encoder takes thirty seconds only. Its layers take any length: the positions are cut to it.
"""

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name for it
from torch import Tensor
from whisper.model import Whisper
from whisper.tokenizer import get_tokenizer


def language_probabilities(model: Whisper, spectrograms: Tensor) -> list[dict[str, float]]:
    """Return the probability of each language, by Whisper's code, for each sound.

    Args:
        model: Multilingual model, on the device of the spectrograms.
        spectrograms: Log-Mel spectrograms of equal length, (sounds, bands, frames), at most thirty seconds each.
    """
    tokenizer = get_tokenizer(multilingual=True, num_languages=model.num_languages)
    features = _encoded(model, spectrograms)
    beginning = torch.tensor([[tokenizer.sot]] * len(spectrograms), device=features.device)
    logits = model.logits(beginning, features)[:, 0, list(tokenizer.all_language_tokens)]
    return [
        dict(zip(tokenizer.all_language_codes, row.tolist(), strict=True)) for row in logits.float().softmax(dim=-1)
    ]


def _encoded(model: Whisper, spectrograms: Tensor) -> Tensor:
    encoder = model.encoder
    state = F.gelu(encoder.conv2(F.gelu(encoder.conv1(spectrograms)))).permute(0, 2, 1)
    state = state + encoder.positional_embedding[: state.shape[1]]
    for block in encoder.blocks:
        state = block(state)
    encoded: Tensor = encoder.ln_post(state)
    return encoded
