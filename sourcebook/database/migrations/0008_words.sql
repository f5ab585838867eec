-- Words are read with their signs, days, parts and scripts; the next ingest makes the lexemes of all entries again.
ALTER TABLE indexed_document ADD COLUMN words_version integer;
INSERT INTO changed_document (collection, document_id) SELECT collection, id FROM document WHERE removed_at IS NULL;

CREATE FUNCTION words_version() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 2;

CREATE FUNCTION in_one_spelling(configuration regconfig, content text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF content !~ '[\u0590-\u06ff\u0900-\u0e59\u200c\u200d\u2044\ufb00-\ufeff½⅓⅔¼¾⅛⅜⅝⅞″º]' THEN
        RETURN translate(normalize(content, NFKC), U&'\00AD\200B\200E\200F\2060', '');
    END IF;
    content := translate(regexp_replace(content, '(?<=\d)(?=[½⅓⅔¼¾⅛⅜⅝⅞])', ' ', 'g'), '″º', '"°');
    content := translate(normalize(content, NFKC), U&'\2044\00AD\200B\200E\200F\2060\FEFF', '/');
    IF content ~ '[\u0590-\u06ff]' THEN
        content := translate(
            CASE WHEN configuration::text = 'yiddish' THEN content ELSE regexp_replace(
                content, '[\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+',
                '', 'g') END,
            U&'\200C\06CC\06D2\06A9\06C0\06C1\06C2\0660\0661\0662\0663\0664\0665\0666\0667\0668\0669\06F0\06F1\06F2\06F3\06F4\06F5\06F6\06F7\06F8\06F9',
            U&' \064A\064A\0643\0647\0647\0647' || '01234567890123456789');
        IF configuration::text <> 'arabic' THEN  -- whose stemmer needs them
            content := translate(content, U&'\0622\0623\0625\0671\0649\0629', U&'\0627\0627\0627\0627\064A\0647');
        END IF;
    ELSIF content ~ '[\u0900-\u0e59]' THEN
        content := translate(
            content, U&'\0901\0966\0967\0968\0969\096A\096B\096C\096D\096E\096F\09E6\09E7\09E8\09E9\09EA\09EB\09EC\09ED\09EE\09EF\0E50\0E51\0E52\0E53\0E54\0E55\0E56\0E57\0E58\0E59\093C',
            U&'\0902' || '012345678901234567890123456789');
    END IF;
    RETURN translate(content, U&'\200C\200D\FE0E\FE0F', '');
END
$$;

CREATE FUNCTION month_names() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ' eanair ene enero gener gennaio ianuarie jaanuar jan janeiro januar januara januari january janv janvier ocak '
        || 'sausio sausis tammikuu tammikuuta urtarrila urtarrilaren ιαν ιανουαριος ιανουαριου янв январь января јан јануар '
        || 'јануара հնվ հունվար հունվարի יאַנ יאַנואַר يناير जनवरी जन॰ ஜனவரி | feabh feabhra feb febbraio febrer febrero '
        || 'februar februara februari februarie february fevereiro fevr fevrier helmikuu helmikuuta otsaila otsailaren subat'
        || ' vasario vasaris veebr veebruar φεβ φεβρουαριος φεβρουαριου феб фебруар фебруара февр февраль февраля փետրվար '
        || 'փետրվարի փտվ פֿעב פֿעברואַר شباط فبراير फ़रवरी फ़र॰ फेब्रुअरी பிப் பிப்ரவரி | kovas kovo maaliskuu maaliskuuta '
        || 'maart mar marc march marcius marco maret mars mart marta martie marts martxoa martxoaren marz marzo μαρ μαρτιος '
        || 'μαρτιου мар март марта մարտ մարտի մրտ מערץ اذار مارس मार्च மார் மார்ச் | abr abril aibrean apirila apirilaren '
        || 'apr april aprila aprile aprilie aprilis aprill avr avril balandis balandzio huhtikuu huhtikuuta nisan απρ '
        || 'απριλιος απριλιου апр апрель апреля април априла ապր ապրիլ ապրիլի אַפּר אַפּריל ابريل نيسان अप्रिल अप्रैल ஏப் '
        || 'ஏப்ரல் | bealtaine geguze geguzes maggio mai maiatza maiatzaren maig maio maj maja majus may mayo mayıs mei '
        || 'toukokuu toukokuuta μαι μαιος μαιου мае май мая мај маја մայիս մայիսի մյս מיי ايار مايو | birzelio birzelis '
        || 'ekaina ekainaren giugno haziran iunie juin jun juna june junho juni junio junius juny juuni kesakuu kesakuuta '
        || 'meith meitheamh ιουν ιουνιος ιουνιου июн июнь июня јун јуна հնս հունիս հունիսի יוני حزيران يونيو जुन जून ஜூன் | '
        || 'heinakuu heinakuuta iuil iulie juil juillet jul jula julho juli julio juliol julius july juuli liepa liepos '
        || 'luglio temmuz uztaila uztailaren ιουλ ιουλιος ιουλιου июл июль июля јул јула հլս հուլիս հուլիսի יולי تموز يوليو '
        || 'जुलाई जुल॰ ஜூலை | abuztua abuztuaren agost agosto agustos agustus aout aug august augusti augustus augusztus '
        || 'avgust avgusta elokuu elokuuta lunasa rugpjucio rugpjutis αυγ αυγουστος αυγουστου авг август августа օգոստոս '
        || 'օգոստոսի օգս אויג אויגוסט اغسطس अगस्ट अगस्त अग॰ ஆகஸ்ட் | eylul iraila irailaren meán rugsejis rugsejo sep sept '
        || 'septembar september septembra septembre septembrie septiembre setembre setembro settembre syyskuu syyskuuta '
        || 'szept szeptember σεπ σεπτεμβριος σεπτεμβριου сент сентябрь сентября сеп септембар септембра սեպ սեպտեմբեր '
        || 'սեպտեմբերի סעפּ סעפּטעמבער ايلول سبتمبر सितंबर सित॰ सेप्टेम्बर செப் செப்டம்பர் | deireadh ekim lokakuu lokakuuta'
        || ' oct october octobre octombrie octubre okt oktobar oktober oktobra oktoober ottobre outubro spalio spalis urria '
        || 'urriaren οκτ οκτωβριος οκτωβριου окт октобар октобра октябрь октября հոկ հոկտեմբեր հոկտեմբերի אקט אקטאבער اكتوبر'
        || ' अक्टूबर अक्टू॰ अक्टोबर அக் அக்டோபர் | azaroa azaroaren kasım lapkr lapkricio lapkritis marraskuu marraskuuta '
        || 'noiembrie nov novembar november novembra novembre novembro noviembre samhain νοε νοεμβριος νοεμβριου нов '
        || 'новембар новембра нояб ноябрь ноября նոյ նոյեմբեր նոյեմբերի נאוו נאוועמבער نوفمبر नवंबर नव॰ नोभेम्बर நவம்பர் | '
        || 'abendua abenduaren aralık dec decembar december decembra decembre decembrie desember desembre detsember dez '
        || 'dezember dezembro dic dicembre diciembre gruod gruodis gruodzio joulukuu joulukuuta nollaig δεκ δεκεμβριος '
        || 'δεκεμβριου дек декабрь декабря дец децембар децембра դեկ դեկտեմբեր դեկտեմբերի דעצ דעצעמבער ديسمبر डिसेम्बर '
        || 'दिसंबर दिस॰ டிச டிசம்பர் ';

CREATE FUNCTION month_number(name text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT length(before) - length(replace(before, '|', '')) + 1
    FROM (SELECT CASE WHEN octet_length(name) = length(name) OR lower(name) = 'meán' THEN lower(name)
                 ELSE translate(without_accents(lower(name)), 'أإآ', 'ااا') END AS folded OFFSET 0) word
    CROSS JOIN LATERAL (SELECT left(month_names(), strpos(month_names(), ' ' || folded || ' ')) AS before OFFSET 0) found
    WHERE before <> '';
END;

CREATE FUNCTION names_month(content text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM regexp_matches(content, '\d[^\s\d,;:!?()]{0,2}[ -](?:de |di |of |d[’''])?[^\s\d.,;:!?()-]{3,}', 'g') AS form
    WHERE month_number(substring(form[1] FROM '[^\s\d.’''-]{3,}')) IS NOT NULL
) OR EXISTS (
    SELECT FROM regexp_matches(content, '[^\s\d.,;:!?()-]{3,}\.? (?:de |del |of )?\d', 'g') AS form
    WHERE month_number(substring(form[1] FROM '[^\s\d.’''-]{3,}')) IS NOT NULL);

CREATE FUNCTION named_days(configuration regconfig, content text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH numeric_form AS (
        SELECT regexp_match(form[1], '^(\d+)(\D)\s?(\d+)\D\s?(\d+)$') AS part
        FROM regexp_matches(content, '\d+[-/.年년]\s?\d\d?[-/.月월]\s?\d+(?:[-./]\d+)*', 'g') AS form
    ), worded_form AS (
        SELECT form, month_number(substring(form FROM '[^\s\d.’''-]{3,}')) AS month,
               regexp_split_to_array(trim(regexp_replace(form, '\D+', ' ', 'g')), ' ') AS number
        FROM (
            SELECT form[1] AS form FROM regexp_matches(content,
                '\d+[^\s\d,;:!?()]{0,2}[ -](?:de |di |of |d[’''])?[^\s\d.,;:!?()-]{3,}(?:[.,]?[ -](?:de |del |of )?\d{4})?', 'g') AS form
            UNION ALL
            SELECT form[1] FROM regexp_matches(content,
                '(?:\d{4}[^\s\d;:!?)]{0,5} (?:m\. )?)?[^\s\d.,;:!?()-]{3,}\.? (?:de |del |of )?\d+(?:[^\s\d.,;:!?()-]{0,3},? \d{4})?', 'g') AS form
        ) form
    ), found AS (
        SELECT part[1] AS year, part[3] AS month, part[4] AS day, true AS is_first
        FROM numeric_form WHERE length(part[1]) = 4 AND length(part[4]) < 3
        UNION ALL
        SELECT part[4], part[3], part[1], part[2] = '.' OR configuration::text <> 'english' OR part[1]::integer > 12
        FROM numeric_form WHERE length(part[1]) < 3 AND length(part[4]) = 4
        UNION ALL
        SELECT part[4], part[1], part[3], configuration::text = 'english' OR part[3]::integer > 12
        FROM numeric_form WHERE length(part[1]) < 3 AND length(part[4]) = 4 AND part[2] <> '.' AND part[1] <> part[3]
        UNION ALL
        SELECT (array_agg(each) FILTER (WHERE length(each) = 4))[1], month::text,
               (array_agg(each) FILTER (WHERE length(each) < 3))[1], true
        FROM worded_form CROSS JOIN unnest(number) AS each WHERE month IS NOT NULL GROUP BY form, month
    ), valid AS (
        SELECT DISTINCT lpad(year, 4, '0') AS year, lpad(month, 2, '0') AS month, lpad(day, 2, '0') AS day, is_first
        FROM found
        WHERE month::integer BETWEEN 1 AND 12 AND coalesce(day::integer BETWEEN 1 AND 31, year IS NOT NULL)
    )
    SELECT array_agg(name ORDER BY name)
    FROM (
        SELECT DISTINCT name, copy
        FROM valid
        CROSS JOIN LATERAL (VALUES
            (year || '-' || month || '-' || day, 1), ('--' || month || '-' || day, 1), (year || '-' || month, 1), (year, 1),
            -- again, where the other order is a day, too
            (CASE WHEN is_first AND EXISTS (
                SELECT FROM valid other WHERE NOT other.is_first AND other.month = lpad(valid.day, 2, '0') AND other.day = valid.month
             ) THEN year || '-' || month || '-' || day END, 2)) AS part (name, copy)
        WHERE name IS NOT NULL
    ) named;
END;

CREATE FUNCTION signs_in(content text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT array_agg(CASE sign WHEN '>=' THEN '≥' WHEN '<=' THEN '≤' WHEN '!=' THEN '≠'
        ELSE CASE WHEN is_run THEN regexp_replace(sign, '[-_:\\@]+', '-', 'g') ELSE translate(sign, E' \n\t\\()[]`,;', '') END END)
    FROM (
        SELECT lower(CASE WHEN found[1] ~ '^[^\w].*(?:\+\+|#|\*)$' THEN substr(found[1], 2) ELSE found[1] END) AS sign, false AS is_run
        FROM regexp_matches(content,
            '(?:^|[^\w*])[A-Za-z](?:\+\+[A-Za-z_+]?|#[\w#]?|\\?\*[\w*]?)|\w+\+\++|(?:^|[\s(\[`,;])\.[A-Za-z]\w+|[[:alpha:]]+(?:&[[:alpha:]]+)+'
            || '|&&|\|\||==|!=|=>|->|<=|>=|::|:=|\d"|°\s?[A-Za-z]*'
            || '|[§±×÷√∞≈≠≤≥∑∏∫∂∆∇∈∉∀∃∅∪∩⊂⊆€£¥₹¢\u20a0-\u20cf\u2600-\u27bf\U0001f000-\U0001faff]', 'g') AS found
        WHERE found[1] !~ '(?:\w\+\+[A-Za-z_]|[#*][\w#*])$'
        UNION ALL
        SELECT lower(found[1]), true FROM regexp_matches(content, '[[:alnum:]]+(?:[-._/:\\@]+[[:alnum:]]+)+', 'g') AS found
        WHERE found[1] ~ '[\d_]'
    ) found
    WHERE length(sign) <= 100);

CREATE FUNCTION parts_of_names(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN content ~ '[[:lower:]\d][[:upper:]]|[[:upper:]]{2}[[:lower:]]{2}|[[:alpha:]]{2}[./:\\@]+\w|\w[./:\\@]+[[:alpha:]]{2}' THEN (
    SELECT string_agg(regexp_replace(regexp_replace(regexp_replace(found[1],
            '([[:lower:]]|\d(?=[[:upper:]][[:lower:]]))(?=[[:upper:]])|([[:upper:]])(?=[[:upper:]][[:lower:]]{2})', '\1\2 ', 'g'),
            '[^[:alnum:]]+', ' ', 'g'), '(^| )[[:alpha:]](?= |$)', '', 'g'), ' ')
    FROM regexp_matches(content,
        '[[:alnum:]_]+(?:[-_]*[./:\\@]+[-_]*[[:alnum:]_]+)+|[[:alnum:]]*(?:[[:lower:]][[:upper:]]|\d[[:upper:]][[:lower:]]|[[:upper:]]{2}[[:lower:]]{2})[[:alnum:]]*',
        'g') AS found
    WHERE found[1] ~ '[[:alpha:]]{2}' AND found[1] !~ '^\d+[[:alpha:]]+$') END;

CREATE FUNCTION stemmed(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    found tsvector;
BEGIN
    -- No stemmer makes an accent of ASCII, quotation marks, dashes and scripts whose marks are letters, but the Serbian one,
    -- which writes `dj` as `đ`.
    IF content !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    IF configuration::text IN ('english', 'simple') THEN  -- whose stemmers know no accents: `résumé` is `resume`
        content := without_accents(content);
    END IF;
    found := to_tsvector(configuration, content);
    IF found::text !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' OR configuration::text IN
        ('danish', 'estonian', 'finnish', 'hungarian', 'norwegian', 'swedish', 'turkish') THEN
        RETURN found;
    END IF;
    RETURN (
        SELECT coalesce(string_agg(
            quoted_lexeme(without_accents(lexeme)) || ':' || array_to_string(positions, ','), ' '), '')::tsvector
        FROM unnest(found));
END
$$;

CREATE FUNCTION plain_words(content text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF content ~ '[A-Za-z](\+\+|#|\*|\\\*)|°' THEN
        content := regexp_replace(content,
            '(?<![\w*])[A-Za-z](?:\+\+(?![A-Za-z_+])|#(?![\w#])|\\?\*(?![\w*]))|°\s?[CFK](?![[:alnum:]])', ' ', 'g');
    END IF;
    IF content ~ '\d[[:alpha:]×]' THEN
        content := regexp_replace(content, '(\d)(?<!\m0)[x×](?=\d)', '\1 x ', 'g');
        content := regexp_replace(content, '(?<![[:alpha:]])(\d+)((?:[mkMGT]|μ|n|p|u)?(?:Ω|m|g|V|W|F|H|Hz|Pa|J|Wh|VA|Ah|l|L)'
            || '|[kKMmGgTt]i?[Bb]|[kMGT]?bit|[kMG]bps|[kmn]?mol|cm|dm|ms|μs|us|ns|min|rpm|dB|bar|psi|ppm|[kM]?[Oo]hm|px|pt|fps|mph|k?cal|lbs?|oz|ft|in|m[23])(?![[:alnum:]])',
            '\1 \2', 'g');
    END IF;
    RETURN content;
END
$$;

CREATE FUNCTION further_lexemes(configuration regconfig, content text, words tsvector) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    days text[];
    signs text[];
    parts text := parts_of_names(content);
    found tsvector := '';
BEGIN
    -- What is rare is looked for before it is read: reading costs ten times as much.
    IF content ~ '\d' AND (content ~ '\d[-/.年년]\s?\d\d?[-/.月월]\s?\d' OR names_month(content)) THEN
        days := named_days(configuration, content);
    END IF;
    IF content ~ '[+#&|=<>§°±×÷√∞]|\w\\?\*|\d"|::|->|(?:^|[\s(\[`,;])\.[A-Za-z]|\d[-./:]\w|[A-Za-z][-./:]\d|[[:alnum:]]_[[:alnum:]]|[\u20a0-\u20cf\u2200-\u27bf\U0001f000-\U0001faff€£¥¢]' THEN
        signs := signs_in(content);
    END IF;
    IF days IS NOT NULL OR signs IS NOT NULL THEN
        found := coalesce((
            SELECT string_agg(quoted_lexeme(name) || ':' || place || 'C', ' ')
            FROM unnest(days || ARRAY(SELECT name FROM unnest(signs) AS name WHERE days IS NULL OR name <> ALL(days)))
                WITH ORDINALITY AS named (name, place)
            WHERE NOT words @@ quoted_lexeme(name)::tsquery)::tsvector, '');
    END IF;
    IF parts IS NOT NULL THEN
        found := found || setweight(stemmed(configuration, paired_letters(parts)), 'C');
    END IF;
    RETURN found;
END
$$;

CREATE OR REPLACE FUNCTION search_lexemes(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    words tsvector;
BEGIN
    IF octet_length(content) = length(content) AND configuration::text <> 'serbian' THEN
        words := to_tsvector(configuration, plain_words(content));
    ELSE
        content := in_one_spelling(configuration, content);
        words := stemmed(configuration, paired_letters(plain_words(content)));
    END IF;
    RETURN words || further_lexemes(configuration, content, words);
END
$$;

CREATE FUNCTION query_lexemes(configuration regconfig, content text)
RETURNS TABLE (lexeme text, place integer, is_further boolean)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 10
AS $$
DECLARE
    words tsvector;
BEGIN
    content := in_one_spelling(configuration, content);
    words := stemmed(configuration, paired_letters(plain_words(content)));
    RETURN QUERY SELECT held.lexeme, position::integer, false FROM unnest(words) AS held CROSS JOIN unnest(positions) AS position;
    RETURN QUERY SELECT held.lexeme, 100000 + position, true
    FROM unnest(further_lexemes(configuration, content, words)) AS held CROSS JOIN unnest(positions) AS position;
END
$$;

CREATE OR REPLACE FUNCTION query_words(content text, generations bigint[]) RETURNS TABLE (
    token text, entries bigint, ids jsonb, all_entries bigint, occurrences bigint)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH known AS (
        SELECT name, sum(entries) AS entries
        FROM text_configuration WHERE generation_id = ANY(generations) AND entries > 0 GROUP BY name
    ), reading AS MATERIALIZED (
        SELECT known.name, lexeme AS token, place, is_further
        FROM known CROSS JOIN LATERAL query_lexemes(known.name::regconfig, content)
    ), lexeme_read AS MATERIALIZED (
        SELECT read.token, coalesce(sum(lexeme.entries), 0) AS entries,
               coalesce(jsonb_object_agg(lexeme.generation_id, lexeme.id) FILTER (WHERE lexeme.entries > 0), '{}') AS ids
        FROM (SELECT DISTINCT token FROM reading) read
        LEFT JOIN LATERAL (  -- word by word: the planner overestimates the query and would read the whole vocabulary
            SELECT generation_id, id, entries FROM lexeme
            WHERE generation_id = ANY(generations) AND token = read.token
            OFFSET 0
        ) lexeme ON true
        GROUP BY read.token
    ), word AS (
        SELECT place, (SELECT sum(entries) FROM known) - sum(known.entries) AS stopped
        FROM (SELECT DISTINCT place, name FROM reading) here JOIN known USING (name)
        GROUP BY place
    ), holding AS (
        SELECT place, sum(lexeme_read.entries) AS held
        FROM (SELECT DISTINCT place, token FROM reading) here JOIN lexeme_read USING (token)
        GROUP BY place
    ), every AS (
        SELECT sum(entry_count) AS entries FROM generation WHERE id = ANY(generations)
    )
    SELECT lexeme_read.token, least(min(word.stopped + held), every.entries)::bigint AS entries, lexeme_read.ids,
           every.entries::bigint AS all_entries, count(DISTINCT place) AS occurrences
    FROM reading
    JOIN word USING (place)
    JOIN holding USING (place)
    JOIN lexeme_read USING (token)
    CROSS JOIN every
    WHERE word.stopped * 2 <= every.entries
      AND (lexeme_read.ids <> '{}' OR held = 0 AND (NOT is_further OR NOT EXISTS (SELECT FROM reading WHERE NOT is_further)))
    GROUP BY lexeme_read.token, lexeme_read.ids, every.entries
    ORDER BY lexeme_read.token;
END
$$;
