import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import { invalid } from '../failure.ts';
import { quoted } from './catalogue.ts';

/** The three models that make custom voices. */
export type VoiceService = 'voice-enrollment' | 'alpha-voice-enrollment' | 'alpha-voice-design';

const targets: Readonly<Record<VoiceService, (model: CatalogueModel) => boolean>> = {
  'voice-enrollment': ({ family }) => family === 'voxa' || family === 'alpha-audio',
  'alpha-voice-enrollment': ({ voices }) => voices === 'cloned',
  'alpha-voice-design': ({ voices }) => voices === 'designed',
};

/**
 * The model that a new voice is to speak with.
 *
 * @throws Failure 400 when the service makes no voices for it.
 */
export function targetModel(service: VoiceService, id: string): CatalogueModel {
  const possible = models.filter(targets[service]);
  const model = possible.find((one) => one.id === id);
  if (model !== undefined) return model;
  const list = possible.map((one) => one.id).join(', ');
  throw invalid('input.target_model', `${service} makes no voices for ${quoted(id)}, only for ${list}.`);
}
