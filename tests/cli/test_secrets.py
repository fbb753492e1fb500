"""Secrets that a person types."""


def test_accept__a_secret_in_the_reason_or_the_name__is_stored_masked(work, monkeypatch):
    """A baseline is kept in git: what a person types goes through the same mask as what is measured."""
    monkeypatch.setenv("MY_API_KEY", "s3cr3t/va+lue")
    work.answers(a="yes")
    work.run("run", work.suite("a"))
    done = work.run("accept", "eval-results", "--reason", "because s3cr3t/va+lue", "--by", "s3cr3t%2Fva%2Blue")

    stored = b"".join(work.tree("eval-baselines").values())
    assert done.code == 0
    assert b"because ***" in stored
    assert b"s3cr3t" not in stored + done.out.encode() + done.err.encode()
