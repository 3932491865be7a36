"""Fine-tunes low-rank adapters of a small Llama with peft and accelerate, in mixed precision."""

import json

import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
losses = []
config = LlamaConfig(
    vocab_size=80,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
)
model = get_peft_model(
    LlamaForCausalLM(config), LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
)
accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
loader = DataLoader(torch.randint(0, 80, (16, 10)), 4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for _ in range(2):
    for tokens in loader:
        with accelerator.accumulate(model):
            loss = model(input_ids=tokens, labels=tokens).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach()).mean().item())
merged = accelerator.unwrap_model(model).merge_and_unload()
losses.append(merged(tokens).logits.float().abs().mean().item())

print(json.dumps(losses))
