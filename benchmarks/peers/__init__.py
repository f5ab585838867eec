"""What Sourcebook is compared with: other rankings, other designs, and the libraries by themselves."""
