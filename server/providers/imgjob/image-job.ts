import type { components } from '../../../generated/http.ts';
import {
  defined,
  field,
  listField,
  numberBetween,
  objectField,
  readFields,
  textField,
  urlField,
} from '../../lib/json.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';

type Schemas = components['schemas'];
type ImageJob = Schemas['ImageJob'];

export interface ImageFacts {
  /** The protocol's name of the action, until the provider reports its own. */
  action: string;
  prompt?: string;
  /** The button that started it. */
  custom_id?: string;
  /** The client's own text. */
  state?: string;
}

/** Stored result of an image job. It contains no upstream id. */
export interface ImageResult {
  /** The provider's response to the submission, if its code is not 1. */
  submitted?: { code: 21 | 22; properties: Schemas['ImageSubmitReply']['properties'] };
  /** The job waits for the modal call. */
  waiting?: true;
  missedPolls?: number;
  image_url?: string;
  video_url?: string;
  buttons?: ImageJob['buttons'];
  /** Texts of the provider that the query shows. */
  shown?: Partial<Pick<ImageJob, 'action' | 'prompt' | 'promptEn' | 'description' | 'properties'>>;
}

const maxTextLength = 20_000;
const maxButtons = 100;
const maxCustomIdLength = 512;
const maxWordLength = 200;

/** Reads the fields of a job that clients may see, redacted. Some providers put URLs of input images into the prompt. */
export function readJob(answer: unknown, redactor: ProviderRedactor): ImageResult {
  const text = (from: unknown, name: string, max = maxTextLength) => {
    const found = textField(from, name);
    return found && redactor.redact(found, max);
  };
  const action = (from: unknown, name: string) => text(from, name, maxWordLength);
  const properties = (from: unknown, name: string) =>
    objectField(from, name) && readFields(field(from, name), { finalPrompt: text, finalZhPrompt: text });
  return {
    ...defined({ image_url: urlField(answer, 'imageUrl'), video_url: urlField(answer, 'videoUrl') }),
    buttons: listField(answer, 'buttons').slice(0, maxButtons).flatMap(readButton),
    shown: readFields(answer, { action, prompt: text, promptEn: text, description: text, properties }),
  };
}

function readButton(button: unknown): ImageJob['buttons'] {
  const customId = textField(button, 'customId');
  if (customId === undefined || customId.length > maxCustomIdLength) return [];
  const emoji = textField(button, 'emoji', maxWordLength) ?? '';
  const label = textField(button, 'label', maxWordLength) ?? '';
  const style = numberBetween(button, 'style', 1, 4);
  return [{ customId, emoji, label, type: 2, ...(Number.isInteger(style) && { style }) }];
}

const actions: readonly [mark: RegExp, action: string][] = [
  [/::upsample/, 'UPSCALE'],
  [/::(?:high_|low_)?variation/, 'VARIATION'],
  [/::reroll/, 'REROLL'],
  [/::pan_/, 'PAN'],
  [/::(?:Outpaint|CustomZoom)/, 'ZOOM'],
  [/::Inpaint/, 'INPAINT'],
];

/** Derives the action of a button, until the provider reports it. */
export function actionOf(customId: string): string {
  return actions.find(([mark]) => mark.test(customId))?.[1] ?? 'ACTION';
}
