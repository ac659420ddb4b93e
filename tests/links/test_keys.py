from __future__ import annotations

from pathlib import Path

import pytest

from referee.links.keys import BadKey, check_key, keys_of, new_keys, read_keys, write_keys

SECRET = "0" * 40


def test_what_is_written_is_read(tmp_path: Path) -> None:
    keys = new_keys()
    path = write_keys(tmp_path, "my bot (v2)", keys)
    assert path.name == "my bot (v2).key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_keys(path) == keys == keys_of(keys.secret)


def test_a_new_pair_is_made_where_none_is_given(tmp_path: Path) -> None:
    first, second = write_keys(tmp_path, "a"), write_keys(tmp_path, "b")
    assert read_keys(first) != read_keys(second)


def test_a_key_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    path = write_keys(tmp_path, "a")
    kept = path.read_bytes()
    with pytest.raises(BadKey, match="is there already"):
        write_keys(tmp_path, "a")
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no secret key"),
        ("secret = 5", "holds no secret key"),
        ("secret = [", "is not TOML"),
        ('secret = "short"', "a key has 40 characters"),
        (f'secret = "{"~" * 40}"', "a key has 40 characters"),
        (f'secret = "{SECRET}"\npublic = "x"', "not the one of the secret key"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.key"
    path.write_text(text)
    with pytest.raises(BadKey, match=told) as caught:
        read_keys(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadKey, match="cannot be read: No such file"):
        read_keys(tmp_path / "x.key")


def test_a_pasted_key_may_have_blanks_around_it() -> None:
    key = new_keys().public
    assert check_key(f" {key}\n") == key
    for bad in ("", key[:-1], key + "0", "\\" * 40, "é" * 40):
        with pytest.raises(BadKey):
            check_key(bad)
