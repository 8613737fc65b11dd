"""What a server compiled is there for the next one, and for no other kind of processor."""

from pathlib import Path

from compile_cache import processor, use

AMD = """processor\t: 0
model name\t: AMD EPYC
cpu MHz\t\t: 2445.404
flags\t\t: fpu sse avx2

processor\t: 1
model name\t: AMD EPYC
cpu MHz\t\t: 3000.000
flags\t\t: fpu sse avx2
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU part\t: 0xd0c\n"


def test_the_processor_is_its_name_and_features_not_its_clock_of_the_moment() -> None:
    assert processor(AMD) == "model name\t: AMD EPYC\nflags\t\t: fpu sse avx2"
    assert processor(ARM) == "Features\t: fp asimd\nCPU part\t: 0xd0c"


def test_each_kind_of_processor_has_a_folder_of_its_own_and_one_kind_the_same(tmp_path: Path) -> None:
    folders = []
    for text in (AMD, AMD.replace("2445", "1500"), AMD.replace("avx2", "avx512f"), ARM):
        (tmp_path / "cpuinfo").write_text(text)
        environment: dict[str, str] = {}
        use(tmp_path, environment, tmp_path / "cpuinfo")
        folders.append(Path(environment["JAX_COMPILATION_CACHE_DIR"]))
    assert folders[0] == folders[1] and len(set(folders)) == 3
    assert {folder.parent for folder in folders} == {tmp_path}


def test_a_cache_that_the_caller_chose_stays(tmp_path: Path) -> None:
    environment = {"JAX_COMPILATION_CACHE_DIR": "/mine", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "2"}
    use(tmp_path, environment)
    assert environment == {"JAX_COMPILATION_CACHE_DIR": "/mine", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "2"}
