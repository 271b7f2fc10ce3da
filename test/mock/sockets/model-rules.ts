import { type CatalogueModel, families, voiceSets } from '../../../generated/catalogue.ts';
import type { SessionUpdate } from '../../../generated/events.ts';

type Settings = SessionUpdate['session'];

interface Rule {
  field: keyof Settings;
  applies: (model: CatalogueModel) => boolean;
  broken: (settings: Settings, model: CatalogueModel) => boolean;
  message: string;
}

const legacy = ({ family }: CatalogueModel) => family === 'alpha-legacy';
const plain = ({ instruct }: CatalogueModel) => instruct !== true;
const custom = ({ voices }: CatalogueModel) => voices !== 'system';

const absentFrom = (field: keyof Settings, applies: Rule['applies']): Rule => ({
  field,
  applies,
  broken: (settings) => settings[field] !== undefined && settings[field] !== false,
  message: 'this model does not take it.',
});

/** What a model takes, which the schema of the settings does not tell. */
const rules: readonly Rule[] = [
  {
    field: 'response_format',
    applies: legacy,
    broken: ({ response_format: format = 'pcm' }) => format !== 'pcm',
    message: 'this model takes only pcm.',
  },
  {
    field: 'sample_rate',
    applies: legacy,
    broken: ({ sample_rate: rate = 24_000 }) => rate !== 24_000,
    message: 'this model takes only 24000.',
  },
  absentFrom('speech_rate', legacy),
  absentFrom('volume', legacy),
  absentFrom('pitch_rate', legacy),
  absentFrom('bit_rate', legacy),
  absentFrom('instructions', plain),
  absentFrom('optimize_instructions', plain),
  {
    field: 'voice',
    applies: custom,
    broken: ({ voice }, { family }) => {
      const set = families[family].voiceSet;
      return set !== undefined && voiceSets[set].some(({ id }) => id === voice);
    },
    message: 'this model takes no system voice.',
  },
];

/** The field of the settings that the model does not take, and why. */
export function brokenRule(
  model: CatalogueModel,
  settings: Settings,
): { field: string; message: string } | undefined {
  const rule = rules.find(({ applies, broken }) => applies(model) && broken(settings, model));
  return rule && { field: `session.${rule.field}`, message: `session.${rule.field}: ${rule.message}` };
}
