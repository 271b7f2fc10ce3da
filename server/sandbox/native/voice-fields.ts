import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { countTextTokens } from '../billing.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import { type Delivery, deliveryOf, plainDelivery } from '../delivery.ts';
import { systemVoice, type VoiceTimbre } from '../voices.ts';
import type { Parameters } from './parameters.ts';

/** The timbre of the voice that field `name` asks for: a system voice, or a custom voice made for this very model. */
export function chooseVoice(
  voices: CustomVoices,
  model: CatalogueModel,
  input: Parameters,
  name: string,
  id = input.requiredString(name),
): VoiceTimbre {
  const shown = id.slice(0, 100);
  const custom = voices.find(id);
  if (custom) {
    if (custom.targetModel !== model.id) {
      throw input.wrong(name, `${shown} was made for model ${custom.targetModel}, not for ${model.id}`);
    }
    if (custom.status !== 'OK') throw input.wrong(name, `${shown} has status ${custom.status}`);
    return custom.timbre;
  }
  const system = systemVoice(model.family, id);
  if (model.voices === 'system') {
    if (!system) throw input.wrong(name, `${shown} does not exist for model ${model.id}`);
    return system;
  }
  throw input.wrong(
    name,
    system
      ? `must be a ${model.voices} voice: model ${model.id} takes no system voice such as ${shown}`
      : `${shown} does not exist: model ${model.id} has no ${model.voices} voice with that id`,
  );
}

const maxInstructionTokens = 1600;

/** How the instruct models are asked to speak; the other alpha models take no instructions. */
export function readInstructions(input: Parameters, model: CatalogueModel): Delivery {
  const instructions = input.string('instructions');
  const optimize = input.flag('optimize_instructions');
  if (!model.instruct && (instructions !== undefined || optimize)) {
    const name = instructions === undefined ? 'optimize_instructions' : 'instructions';
    throw input.wrong(name, `needs an instruct model, not ${model.id}`);
  }
  if (instructions === undefined || instructions === '') {
    if (optimize) throw input.wrong('optimize_instructions', 'requires instructions');
    return plainDelivery;
  }
  if (countTextTokens(instructions) > maxInstructionTokens) {
    throw input.wrong('instructions', `must not be longer than ${maxInstructionTokens} tokens`);
  }
  return deliveryOf(instructions, optimize ? 1.25 : 1);
}
