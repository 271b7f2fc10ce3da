import type { components } from '../../../generated/http.ts';
import { field, numberField, objectField, picked, textField, webAddress } from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';

type Schemas = components['schemas'];
type ImageJob = Schemas['ImageJob'];

/** What the gateway remembers of a request for an image job. */
export interface ImageFacts {
  /** What the job does, in the protocol's word; the provider's own wins as soon as it is known. */
  action: string;
  prompt?: string;
  /** The button that started it. */
  custom_id?: string;
  /** The client's own text. */
  state?: string;
}

/** What the driver keeps of the provider's answers about a job. It holds no upstream id. */
export interface ImageResult {
  /** How the provider took the job, when that was not simply code 1. */
  submitted?: { code: 21 | 22; properties: Schemas['ImageSubmitReply']['properties'] };
  /** It waits for the modal call. */
  waiting?: true;
  /** Polls in a row that were answered without a job. */
  missedPolls?: number;
  image_url?: string;
  video_url?: string;
  buttons?: ImageJob['buttons'];
  /** The provider's words about the job, as the query shows them. */
  shown?: Partial<Pick<ImageJob, 'action' | 'prompt' | 'promptEn' | 'description' | 'properties'>>;
}

/** Characters of a text that are kept: as many as the longest prompt has. */
const maxTextLength = 20_000;
/** More than any job shows. */
const maxButtons = 100;
const maxCustomIdLength = 512;
const maxWordLength = 200;

/**
 * What a provider reports of a job, as far as clients may see it: nothing of a type that the contract does not have, and
 * no address of the provider's in a prompt, where some put those of the pictures they were given.
 */
export function readJob(answer: unknown, words: ProviderWords): ImageResult {
  const text = (from: unknown, name: string, max: number) => {
    const found = textField(from, name);
    return found === undefined ? undefined : words.text(found, max);
  };
  const imageUrl = webAddress(answer, 'imageUrl');
  const videoUrl = webAddress(answer, 'videoUrl');
  const properties = objectField(answer, 'properties');
  return {
    ...(imageUrl !== undefined && { image_url: imageUrl }),
    ...(videoUrl !== undefined && { video_url: videoUrl }),
    buttons: buttonsOf(field(answer, 'buttons')),
    shown: {
      ...picked(['action'], (name) => text(answer, name, maxWordLength)),
      ...picked(['prompt', 'promptEn', 'description'], (name) => text(answer, name, maxTextLength)),
      ...(properties && {
        properties: picked(['finalPrompt', 'finalZhPrompt'], (name) => text(properties, name, maxTextLength)),
      }),
    },
  };
}

function buttonsOf(reported: unknown): ImageJob['buttons'] {
  if (!Array.isArray(reported)) return [];
  return reported.slice(0, maxButtons).flatMap((button: unknown) => {
    const customId = textField(button, 'customId');
    if (customId === undefined || customId.length > maxCustomIdLength) return [];
    const style = numberField(button, 'style') ?? 0;
    return [
      {
        customId,
        emoji: (textField(button, 'emoji') ?? '').slice(0, maxWordLength),
        label: (textField(button, 'label') ?? '').slice(0, maxWordLength),
        type: 2,
        ...(Number.isInteger(style) && style >= 1 && style <= 4 && { style }),
      },
    ];
  });
}

/** By the part of a `customId` that tells what its button does. */
const actions: readonly [mark: RegExp, action: string][] = [
  [/::upsample/, 'UPSCALE'],
  [/::(?:high_|low_)?variation/, 'VARIATION'],
  [/::reroll/, 'REROLL'],
  [/::pan_/, 'PAN'],
  [/::(?:Outpaint|CustomZoom)/, 'ZOOM'],
  [/::Inpaint/, 'INPAINT'],
];

/** What a button does, as long as the provider has not said it. */
export function actionOf(customId: string): string {
  return actions.find(([mark]) => mark.test(customId))?.[1] ?? 'ACTION';
}
