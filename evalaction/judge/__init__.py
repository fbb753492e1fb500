"""The judge: criteria put to a model about an answer that nobody trusts, and a reply that is believed only in one exact form."""
