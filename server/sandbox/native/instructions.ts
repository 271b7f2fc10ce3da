import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { countTextTokens } from '../billing.ts';
import { type Delivery, deliveryOf, plainDelivery } from '../delivery.ts';
import type { Parameters } from './parameters.ts';

const longestInstructions = 1600;

/** How the instruct models are told to speak; the other alpha models take no instructions. */
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
  if (countTextTokens(instructions) > longestInstructions) {
    throw input.wrong('instructions', `must not be longer than ${longestInstructions} tokens`);
  }
  return deliveryOf(instructions, optimize ? 1.25 : 1);
}
