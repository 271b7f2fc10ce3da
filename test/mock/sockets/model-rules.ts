import { type CatalogueModel, families, voiceSets } from '../../../generated/catalogue.ts';
import type { SessionUpdate } from '../../../generated/events.ts';

type Settings = SessionUpdate['session'];

interface Rule {
  field: keyof Settings;
  applies: (model: CatalogueModel) => boolean;
  isViolated: (settings: Settings, model: CatalogueModel) => boolean;
  message: string;
}

const legacy = ({ family }: CatalogueModel) => family === 'alpha-legacy';
const hasNoInstructions = ({ instruct }: CatalogueModel) => instruct !== true;
const hasCustomVoices = ({ voices }: CatalogueModel) => voices !== 'system';

const unsupported = (field: keyof Settings, applies: Rule['applies']): Rule => ({
  field,
  applies,
  isViolated: (settings) => settings[field] !== undefined && settings[field] !== false,
  message: 'this model does not take it.',
});

/** Rules of models that the schema of the settings does not express. */
const rules: readonly Rule[] = [
  {
    field: 'response_format',
    applies: legacy,
    isViolated: ({ response_format: format = 'pcm' }) => format !== 'pcm',
    message: 'this model takes only pcm.',
  },
  {
    field: 'sample_rate',
    applies: legacy,
    isViolated: ({ sample_rate: rate = 24_000 }) => rate !== 24_000,
    message: 'this model takes only 24000.',
  },
  unsupported('speech_rate', legacy),
  unsupported('volume', legacy),
  unsupported('pitch_rate', legacy),
  unsupported('bit_rate', legacy),
  unsupported('instructions', hasNoInstructions),
  unsupported('optimize_instructions', hasNoInstructions),
  {
    field: 'voice',
    applies: hasCustomVoices,
    isViolated: ({ voice }, { family }) => {
      const set = families[family].voiceSet;
      return set !== undefined && voiceSets[set].some(({ id }) => id === voice);
    },
    message: 'this model takes no system voice.',
  },
];

/** Returns the first violated rule of a model. */
export function violatedRule(
  model: CatalogueModel,
  settings: Settings,
): { field: string; message: string } | undefined {
  const rule = rules.find(({ applies, isViolated }) => applies(model) && isViolated(settings, model));
  return rule && { field: `session.${rule.field}`, message: `session.${rule.field}: ${rule.message}` };
}
