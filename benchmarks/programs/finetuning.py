"""Fine-tunes a classifier with the Trainer of transformers, which picks the device by itself."""

import json
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

torch.manual_seed(0)
config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    num_labels=3,
)
rows = [
    {"input_ids": torch.randint(0, 60, (12,)), "attention_mask": torch.ones(12).long(), "labels": i % 3}
    for i in range(24)
]
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=4,
        logging_steps=2,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trainer(
        BertForSequenceClassification(config), arguments, train_dataset=rows, eval_dataset=rows[:8]
    )
    trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    losses.append(trainer.evaluate()["eval_loss"])

print(json.dumps(losses))
