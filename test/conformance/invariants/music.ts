import {
  chronological,
  each,
  equal,
  filled,
  type Invariants,
  oneOf,
  ordered,
  past,
  sameAsPath,
  unique,
  when,
} from './vocabulary.ts';

const song = [
  equal('', 'id', 'clip_id'),
  past('created_at', 'date'),
  when('', 'status', 'complete', filled('title')),
];

const task = [
  past('submit_time', 's'),
  past('start_time', 's'),
  past('finish_time', 's'),
  chronological('', 's', 'submit_time', 'start_time', 'finish_time'),
  when('', 'status', 'SUCCESS', filled('data'), oneOf('progress', '100%')),
  when('', 'status', 'FAILURE', filled('fail_reason')),
];

/** A finished song has audio. Lyrics have none. */
const songs = when(
  '',
  'action',
  'MUSIC',
  when('', 'status', 'SUCCESS', each('data[]', [...song, filled('audio_url'), filled('image_url')])),
  unique('data[].id'),
);

export const music: Invariants<
  'fetchMusicTask' | 'fetchMusicTasks' | 'getMusic' | 'getClip' | 'getClipWav' | 'getClipTiming'
> = {
  fetchMusicTask: [sameAsPath('data.task_id', 'task_id'), each('data', [...task, songs])],
  fetchMusicTasks: [unique('data[].task_id'), each('data[]', [...task, songs])],
  getMusic: [
    sameAsPath('data.task_id', 'task_id'),
    when('data', 'status', 'SUCCESS', filled('clips')),
    each('data.clips.*', [...song, filled('audio_url')]),
  ],
  getClip: [sameAsPath('[].id', 'clip_id'), each('[]', song)],
  getClipTiming: [
    ordered('aligned_words[].start_s', 'ascending'),
    each('aligned_words[]', [chronological('', 's', 'start_s', 'end_s')]),
  ],
};
