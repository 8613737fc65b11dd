"""Trains the small Qwen3 of the CPU image and writes its merges and weights to tiny_qwen3/ beside this file.

    PYTHONPATH=. python docker/server/train_tiny_qwen3.py

From random weights, on written answers to generated stories (bench/tasks/arithmetic.py), never a held-out one. First on right
answers, worked step by step, until it can do the sums. Then on the answers of a careless writer, who works a sum out, guesses, or forgets
the form, so that it is right often enough to learn from and wrong often enough to have something to learn. Needs torch and transformers.
"""

import itertools
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import make_tiny_qwen3
import numpy as np
import torch
from jinja2 import Template
from make_tiny_qwen3 import CHAT_TEMPLATE, EOS_ID, PAD_ID, PARTS, SPECIALS, VOCAB
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import Qwen3Config, Qwen3ForCausalLM

from bench.tasks.arithmetic import STEPS, Story, stories

SEED, CARELESS_SEED = 0, 9
RIGHT_STEPS, CARELESS_STEPS = 2400, 300
BATCH, LONG_BATCH, LONG_EVERY = 96, 16, 4  # every fourth batch has so many long stories and as many strange texts
LONG_STEPS = (3, 4, 5, 6, 7)
LEARNING_RATE, WARMUP_STEPS = 3e-3, 50
WORKED, GUESSED = 0.42, 0.48  # shares of the careless writer's answers; the rest are worked out and lack the form
SLIP = 0.12  # of the careless writer's sums add where they should take away, or the other way round
IGNORED = -100  # transformers' label of a token that is not learnt
TEMPLATE = Template(CHAT_TEMPLATE)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WORD_PROBLEMS = Path(__file__).parents[2] / "bench" / "data" / "word_problems.jsonl"


def prompt(question: str, thinking: bool) -> str:
    """A question in the chat template, up to where the answer starts."""
    chat = [{"role": "user", "content": question}]
    return str(TEMPLATE.render(messages=chat, add_generation_prompt=True, enable_thinking=thinking))


def worked(story: Story, source: random.Random | None) -> tuple[list[str], int]:
    """The lines of a worked answer and what they come to; with a source of chance, some sums are slips."""
    lines, now = [], story.start
    for change in story.changes:
        slip = source is not None and source.random() < SLIP and 1 <= now - change <= 99
        used = -change if slip else change
        lines.append(f"{now}{'+' if used > 0 else '-'}{abs(used)}={now + used}")
        now += used
    return lines, now


def right_answer(story: Story) -> str:
    """A worked answer in GSM8K's form."""
    lines, result = worked(story, None)
    return "\n".join([*lines, f"#### {result}"])


def careless_answer(story: Story, source: random.Random) -> str:
    """What the careless writer makes of a story; a long one is always worked out."""
    habit = source.random() if len(story.changes) <= max(STEPS) else 0.0
    if WORKED <= habit < WORKED + GUESSED:
        return f"#### {min(99, max(1, story.answer + source.randint(-9, 9)))}"
    lines, result = worked(story, source)
    return "\n".join([*lines, f"#### {result}"] if habit < WORKED else [*lines, f"It is {result}."])


def strange_text(source: random.Random, words: Sequence[str]) -> tuple[str, str]:
    """Words and numbers in no order, and some sums of those numbers: so that answers to what is no story have a length to time."""
    numbers = [source.randint(1, 99) for _ in range(source.randint(2, 6))]
    text = source.choices(words, k=source.randint(15, 45))
    for number in numbers:
        text.insert(source.randrange(len(text)), str(number))
    now, lines = numbers[0], []
    for _ in range(source.randint(3, 13)):
        change = source.choice(numbers)
        sign = 1 if now - change < 1 or (now + change <= 99 and source.random() < 0.5) else -1
        lines.append(f"{now}{'+' if sign > 0 else '-'}{change}={now + sign * change}")
        now += sign * change
    return " ".join(text), "\n".join([*lines, f"#### {now}"])


def merges() -> list[tuple[str, str]]:
    """As many merges as the vocabulary has room for, of the words of the stories and of the benchmark's own prompts."""
    tokenizer = Tokenizer(BPE())
    blank = make_tiny_qwen3.tokenizer_files([])["tokenizer.json"]
    tokenizer.pre_tokenizer = Tokenizer.from_str(json.dumps(blank)).pre_tokenizer
    texts = [prompt(story.question, False) for story in itertools.islice(stories(random.Random(SEED), STEPS + LONG_STEPS), 2000)]
    texts += [prompt(json.loads(line)["question"], False) for line in WORD_PROBLEMS.read_text().splitlines()] * 20
    texts += ["####\n", "It is 1."] * 2000
    texts = [part for text in texts for part in text.replace(SPECIALS[1], SPECIALS[2]).split(SPECIALS[2])]
    alphabet = make_tiny_qwen3.byte_symbols()
    trainer = BpeTrainer(vocab_size=VOCAB - len(SPECIALS), initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    found = json.loads(tokenizer.to_str())["model"]["merges"]
    if len(found) != VOCAB - len(SPECIALS) - len(alphabet):
        raise SystemExit(f"{len(found)} merges were found: more text is needed")
    return [(left, right) for left, right in found]


def batches(tokenizer: Tokenizer, source: random.Random, careless: bool) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Token ids and labels, [B, T] each; the labels leave out the prompt and the padding."""
    short, long = (stories(source, steps) for steps in (STEPS, LONG_STEPS))
    words = [word for line in WORD_PROBLEMS.read_text().splitlines() for word in json.loads(line)["question"].split() if word.isalpha()]
    for step in itertools.count():
        is_long = step % LONG_EVERY == LONG_EVERY - 1
        chosen = itertools.islice((story for story in (long if is_long else short) if not story.held_out), LONG_BATCH if is_long else BATCH)
        texts = [(story.question, careless_answer(story, source) if careless else right_answer(story)) for story in chosen]
        texts += [strange_text(source, words) for _ in range(LONG_BATCH)] if is_long else []
        rows = [
            (tokenizer.encode(prompt(question, source.random() < 0.2)).ids, [*tokenizer.encode(answer).ids, EOS_ID])
            for question, answer in texts
        ]
        width = max(len(asked) + len(told) for asked, told in rows)
        ids = torch.full((len(rows), width), PAD_ID)
        labels = torch.full((len(rows), width), IGNORED)
        for row, (asked, told) in enumerate(rows):
            ids[row, : len(asked) + len(told)] = torch.tensor(asked + told)
            labels[row, len(asked) : len(asked) + len(told)] = torch.tensor(told)
        yield ids.to(DEVICE), labels.to(DEVICE)


def learn(model: Any, tokenizer: Tokenizer, source: random.Random, steps: int, careless: bool, rate: float) -> None:
    """Next-token loss on the answers; the rate rises for WARMUP_STEPS and falls along a half cosine."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    began = time.perf_counter()
    for step, (ids, labels) in enumerate(itertools.islice(batches(tokenizer, source, careless), steps)):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / WARMUP_STEPS) * 0.5 * (1 + math.cos(math.pi * step / steps))
        loss = model(input_ids=ids, labels=labels).loss  # padding is on the right: causal attention never sees it
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"{'careless' if careless else 'right'} {step}: loss {loss.item():.4f}, {time.perf_counter() - began:.0f} s", flush=True)


def save(model: Any, folder: Path) -> None:
    """The weights in float16."""
    tensors = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")


def main() -> None:
    """Command line entry."""
    PARTS.mkdir(exist_ok=True)
    found = merges()
    (PARTS / "merges.txt").write_text("".join(f"{left} {right}\n" for left, right in found), encoding="utf-8")
    tokenizer = Tokenizer.from_str(json.dumps(make_tiny_qwen3.tokenizer_files(found)["tokenizer.json"]))
    torch.manual_seed(SEED)
    model = Qwen3ForCausalLM(Qwen3Config(**make_tiny_qwen3.config())).to(DEVICE)
    print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters")
    learn(model, tokenizer, random.Random(SEED), RIGHT_STEPS, False, LEARNING_RATE)
    learn(model, tokenizer, random.Random(CARELESS_SEED), CARELESS_STEPS, True, LEARNING_RATE / 6)
    save(model, PARTS)


if __name__ == "__main__":
    main()
