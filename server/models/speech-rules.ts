import { type CatalogueModel, families } from '../../generated/catalogue.ts';
import { invalid } from '../lib/failure.ts';
import { quoted, systemVoices } from './catalogue.ts';
import { estimateTextTokens, fewestTextTokens } from './usage.ts';

/** A text to speak, and the names of its fields on the route of the request. */
export interface SpeechText {
  text: string;
  voice: string;
  instructions: string | undefined;
  optimizeInstructions: boolean;
  fields: { text: string; voice: string; instructions: string; optimizeInstructions: string };
}

const maxInstructionTokens = 1600;

/** Checks the limits that depend on the model. @throws Failure 400 that names the field and the limit */
export function checkSpeech(model: CatalogueModel, speech: SpeechText): void {
  const { text, voice, fields } = speech;
  const { maxCharacters, maxTokens } = families[model.family];
  if (text.trim() === '') throw invalid(fields.text, 'has nothing to speak.');
  if (maxCharacters !== undefined && codePoints(text) > maxCharacters)
    throw invalid(fields.text, `must have at most ${maxCharacters} characters for ${model.id}.`);
  if (maxTokens !== undefined && fewestTextTokens(text) > maxTokens)
    throw invalid(fields.text, `must have at most ${maxTokens} tokens for ${model.id}.`);
  checkInstructions(model, speech);
  if (model.voices !== 'system' && systemVoices(model).some(({ id }) => id === voice))
    throw invalid(
      fields.voice,
      `${model.id} takes no system voice such as ${quoted(voice)}, only a ${model.voices} one.`,
    );
}

function checkInstructions(
  { id, instruct, protocols }: CatalogueModel,
  { instructions, optimizeInstructions, fields }: SpeechText,
): void {
  // The synthesizer models have a native instruction, which the provider checks.
  if (instructions !== undefined && instruct !== true && !protocols.includes('synthesizer'))
    throw invalid(fields.instructions, `${id} takes no instructions; use an instruct model.`);
  if (optimizeInstructions && instruct !== true)
    throw invalid(fields.optimizeInstructions, `${id} takes no instructions; use an instruct model.`);
  if (optimizeInstructions && !instructions)
    throw invalid(fields.optimizeInstructions, `needs ${fields.instructions}.`);
  if (instructions !== undefined && estimateTextTokens(instructions) > maxInstructionTokens)
    throw invalid(fields.instructions, `must have at most ${maxInstructionTokens} tokens.`);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
