"""Models through their vendors' own SDKs: one protocol, one file per vendor, one policy of errors. Judge and model target share it."""
