import type { MusicRequest } from '../../index.ts';
import type { Form, JsonObject } from '../contract/form.ts';

/** How a song is described: in a sentence, or by its lyrics and styles. */
export const modes = ['Description', 'Lyrics'] as const;
export type Mode = (typeof modes)[number];

const sharedFields = ['make_instrumental', 'continue_clip_id', 'continue_at', 'task', 'callback_url'];
const fields: Readonly<Record<Mode, readonly string[]>> = {
  Description: ['gpt_description_prompt', ...sharedFields],
  Lyrics: ['prompt', 'tags', 'title', 'negative_tags', 'metadata', ...sharedFields],
};

export const initialSong: JsonObject = {
  gpt_description_prompt: 'A slow song about the sea',
  prompt:
    '[Verse]\nThe water leaves the shore\nAnd the boats lie on the sand\n\n[Chorus]\nLow tide, come back to me\nLow tide, come back to land',
  tags: 'folk, slow',
  title: 'Low tide',
};

/** Returns the request: the fields of the mode, without those of the other one. */
export function bodyOf(form: Form, mode: Mode): MusicRequest {
  const values = form.body.value;
  const names = fields[mode].filter((name) => values[name] !== undefined);
  return {
    custom_mode: mode === 'Lyrics' ? 1 : 0,
    ...Object.fromEntries(names.map((name) => [name, values[name]])),
  };
}
