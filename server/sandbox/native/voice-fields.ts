import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { countTextTokens } from '../billing.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import { neutralProsody, type Prosody, prosodyFromInstructions } from '../prosody.ts';
import { findSystemVoice, type VoiceTimbre } from '../voices.ts';
import type { Parameters } from './parameters.ts';

/** Returns the timbre of the voice in the field `name`: a system voice, or a custom voice created for this model. */
export function readVoice(
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
      throw input.invalid(name, `${shown} was created for model ${custom.targetModel}, not for ${model.id}`);
    }
    if (custom.status !== 'OK') throw input.invalid(name, `${shown} has status ${custom.status}`);
    return custom.timbre;
  }
  const system = findSystemVoice(model.family, id);
  if (model.voices === 'system') {
    if (!system) throw input.invalid(name, `${shown} does not exist for model ${model.id}`);
    return system;
  }
  throw input.invalid(
    name,
    system
      ? `must be a ${model.voices} voice: model ${model.id} does not support system voices such as ${shown}`
      : `${shown} does not exist: model ${model.id} has no ${model.voices} voice with that id`,
  );
}

const maxInstructionTokens = 1600;

/** Reads the instructions of the instruct models. The other alpha models do not support them. */
export function readInstructions(input: Parameters, model: CatalogueModel): Prosody {
  const instructions = input.string('instructions');
  const optimize = input.flag('optimize_instructions');
  if (!model.instruct && (instructions !== undefined || optimize)) {
    const name = instructions === undefined ? 'optimize_instructions' : 'instructions';
    throw input.invalid(name, `needs an instruct model, not ${model.id}`);
  }
  if (instructions === undefined || instructions === '') {
    if (optimize) throw input.invalid('optimize_instructions', 'requires instructions');
    return neutralProsody;
  }
  if (countTextTokens(instructions) > maxInstructionTokens) {
    throw input.invalid('instructions', `must not be longer than ${maxInstructionTokens} tokens`);
  }
  return prosodyFromInstructions(instructions, optimize ? 1.25 : 1);
}
