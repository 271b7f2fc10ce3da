import { type CatalogueModel, families } from '../../generated/catalogue.ts';
import { type Failure, invalid } from '../lib/failure.ts';
import { quoted, systemVoices } from './catalogue.ts';
import { estimateTextTokens, fewestTextTokens } from './usage.ts';

/** A text to speak, with the names its fields have on the route it came by, for the messages. */
export interface SpeechText {
  text: string;
  voice: string;
  instructions: string | undefined;
  optimizeInstructions: boolean;
  fields: { text: string; voice: string; instructions: string; optimizeInstructions: string };
}

const maxInstructions = 1600;

/**
 * What the contract's schema cannot say, because it depends on the model.
 *
 * @throws Failure 400 naming the field and the limit.
 */
export function checkSpeech(model: CatalogueModel, speech: SpeechText): void {
  const { fields } = speech;
  const { maxCharacters, maxTokens } = families[model.family];
  if (speech.text.trim() === '') throw invalid(fields.text, 'has nothing to speak.');
  if (maxCharacters !== undefined && codePoints(speech.text) > maxCharacters) {
    throw invalid(fields.text, `must have at most ${maxCharacters} characters for ${model.id}.`);
  }
  if (maxTokens !== undefined && fewestTextTokens(speech.text) > maxTokens) {
    throw invalid(fields.text, `must have at most ${maxTokens} tokens for ${model.id}.`);
  }
  const problem = instructionProblem(model, speech);
  if (problem !== undefined) throw problem;
  if (model.voices !== 'system' && isSystemVoice(model, speech.voice)) {
    throw invalid(
      fields.voice,
      `${model.id} takes no system voice such as ${quoted(speech.voice)}, only a ${model.voices} one.`,
    );
  }
}

function instructionProblem(model: CatalogueModel, speech: SpeechText): Failure | undefined {
  const { instructions, optimizeInstructions, fields } = speech;
  // The socket-style models have an instruction of their own, which the provider judges.
  const takesInstructions = model.instruct === true || model.protocols.includes('synthesizer');
  if (instructions !== undefined && !takesInstructions) {
    return invalid(fields.instructions, `${model.id} takes no instructions; use an instruct model.`);
  }
  if (optimizeInstructions && model.instruct !== true) {
    return invalid(fields.optimizeInstructions, `${model.id} takes no instructions; use an instruct model.`);
  }
  if (optimizeInstructions && (instructions === undefined || instructions === '')) {
    return invalid(fields.optimizeInstructions, `needs ${fields.instructions}.`);
  }
  if (instructions !== undefined && estimateTextTokens(instructions) > maxInstructions) {
    return invalid(fields.instructions, `must have at most ${maxInstructions} tokens.`);
  }
  return undefined;
}

function isSystemVoice(model: CatalogueModel, voice: string): boolean {
  return systemVoices(model).some(({ id }) => id === voice);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
