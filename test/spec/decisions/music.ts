import type { Limits } from '../../support/limits.ts';

/** Limits of music requests that the interface does not define. */
export const music: Limits = {
  'SubmitLyricsRequest.callback_url': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'SubmitLyricsRequest.notify_hook': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'MusicControlSliders.style_weight': { maximum: 1, minimum: 0 },
  'MusicControlSliders.weirdness_constraint': { maximum: 1, minimum: 0 },
  'MusicControlSliders.audio_weight': { maximum: 1, minimum: 0 },
  'MusicInput.gpt_description_prompt': { maxLength: 200 },
  'MusicInput.title': { maxLength: 1000 },
  'MusicInput.negative_tags': { maxLength: 1000 },
  'MusicInput.continue_clip_id': { maxLength: 128, minLength: 1 },
  'MusicInput.continue_at': { minimum: 0 },
  'MusicInput.task_id': { maxLength: 128, minLength: 1 },
  'MusicInput.task': { maxLength: 64, minLength: 1 },
  'MusicInput.stem_task': { enum: ['two', 'twelve'], default: 'two' },
  'SubmitMusicRequest.callback_url': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'SubmitMusicRequest.notify_hook': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'SubmitLyricsRequest.prompt': { maxLength: 3000, minLength: 1 },
  'FetchMusicTasksRequest.ids': { maxItems: 100, minItems: 1 },
  'FetchMusicTasksRequest.ids[]': { maxLength: 128, minLength: 1 },
  'FetchMusicTasksRequest.action': { enum: ['MUSIC', 'LYRICS'] },
  'CreateMusicRequest.notify_hook': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  MakeInstrumental: { default: 0 },
  'MusicInput.mv': { default: 'chirp-hawk' },
};
