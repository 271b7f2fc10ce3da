import { describe, expect, test } from 'vitest';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { readLyrics, readSongs, type SongTask } from '../../server/providers/sigma/songs.ts';
import { channelTo } from '../support/upstream.ts';
import { audio, song } from './sigma-answers.ts';

const channel = { settings: channelTo('http://127.0.0.1:1', { key: 'key-of-near' }), hosts: [] };

/** Public songs of an ended task. */
const read = (reported: unknown, change: Partial<SongTask> = {}) =>
  readSongs(reported, {
    id: 'task_1',
    mv: 'chirp-hawk',
    upstreamId: 'upstream-task-1',
    isEnded: true,
    publicIds: {},
    redactor: new ProviderRedactor(channel),
    ...change,
  }).map(({ song: found, clip }) => {
    expect([found.id, found.clip_id]).toEqual([clip.id, clip.id]);
    return found;
  });
const metadataOf = (metadata: object, change: Partial<SongTask> = {}) =>
  read([song('a', { metadata })], change)[0]?.metadata;

test('a song has all fields of the contract', () => {
  const reported = {
    ...song('a'),
    video_url: 'https://files.example/a.mp4',
    image_large_url: 'https://files.example/a-large.png',
    major_model_version: 'v5',
    is_liked: true,
    is_public: false,
    is_trashed: false,
    is_video_pending: true,
    play_count: 0,
    upvote_count: 3,
    metadata: {
      tags: 'folk',
      prompt: 'The water leaves',
      gpt_description_prompt: 'the sea',
      negative_tags: 'metal',
      type: 'gen',
      stem_task: 'two',
      stem_type_group_name: 'Two',
      task: 'gen_stem',
      error_type: 'moderation_failure',
      error_message: 'Held back.',
      refund_credits: true,
      stream: false,
      has_vocal: true,
      has_stem: false,
      make_instrumental: false,
      stem_type_id: 91,
      duration: 0,
      control_sliders: { style_weight: 0, weirdness_constraint: 0.5, audio_weight: 1 },
    },
  };
  const id = 'b9da5139-2465-8b93-91aa-59609fa4bdae';
  expect(read([reported])).toEqual([
    { ...reported, id, clip_id: id, model_name: 'chirp-hawk', created_at: '2026-02-01T09:30:00.000Z' },
  ]);
});

test('its id is derived from the ids of the task and the provider', () => {
  const found = readSongs([{ clip_id: 'only' }, { id: 'a', clip_id: 'b' }], {
    id: 'task_1',
    mv: 'chirp-auk',
    upstreamId: 'upstream-task-1',
    isEnded: false,
    publicIds: {},
    redactor: new ProviderRedactor(channel),
  });
  expect(found.map(({ clip }) => clip)).toEqual([
    { id: 'c0390587-e97d-86ff-a634-e29ad105f857', upstreamId: 'only', upstreamTaskId: 'upstream-task-1' },
    { id: 'b9da5139-2465-8b93-91aa-59609fa4bdae', upstreamId: 'a', upstreamTaskId: 'upstream-task-1' },
  ]);
  expect(found.map(({ song: one }) => one.model_name)).toEqual(['chirp-auk', 'chirp-auk']);
  expect(read([song('a')], { id: 'task_2' })[0]?.id).not.toBe(found[1]?.clip.id);
});

describe('its status', () => {
  test.each([
    ['complete', audio, 'complete'],
    ['complete', '', 'queued'],
    ['streaming', audio, 'streaming'],
    ['streaming', '', 'streaming'],
    ['submitted', '', 'submitted'],
    ['queued', audio, 'queued'],
    ['error', '', 'error'],
    ['SUCCESS', audio, 'streaming'],
    [undefined, '', 'queued'],
  ])('%s with audio %j is %s in a running task', (status, audio_url, expected) => {
    expect(read([song('a', { status, audio_url })], { isEnded: false })).toMatchObject([
      { status: expected, audio_url },
    ]);
  });

  test.each([
    ['complete', audio, 'complete'],
    ['queued', audio, 'complete'],
    ['error', audio, 'error'],
    ['complete', '', 'error'],
  ])('%s with audio %j is %s in an ended task', (status, audio_url, expected) => {
    expect(read([song('a', { status, audio_url })])).toMatchObject([{ status: expected }]);
  });
});

test('fields and types outside of the contract are dropped', () => {
  const junk = {
    title: 7,
    status: 'done',
    video_url: 'javascript:alert(1)',
    image_url: 'file:///etc/passwd',
    image_large_url: ['https://files.example/a.png'],
    created_at: 'yesterday',
    user_id: 'the account',
    is_public: 'yes',
    play_count: '12',
    upvote_count: -1,
    secret: 'hidden',
    metadata: {
      tags: ['folk'],
      prompt: null,
      duration: '124.5',
      stem_type_id: 'many',
      make_instrumental: 1,
      stream: 0,
      has_stem: 2,
      has_vocal: 'no',
      history: [{ id: 'clip-of-the-provider', continue_at: 3 }],
      audio_prompt_id: 'upload-of-the-provider',
      error_message: 'worker at 10.0.0.7 failed with key-of-near',
      control_sliders: { style_weight: 2, audio_weight: '0.5', weirdness_constraint: -0.1 },
      secret: 'hidden',
    },
  };
  const [first, ...more] = read([song('a', junk), null, 'song', [], { title: 'no id' }, song('')]);
  expect(more).toEqual([]);
  expect(first).toEqual({
    id: first?.id,
    clip_id: first?.id,
    title: '',
    status: 'complete',
    audio_url: audio,
    image_url: '',
    model_name: 'chirp-hawk',
    play_count: 12,
    metadata: {
      duration: 124.5,
      make_instrumental: true,
      stream: false,
      error_message: 'worker at *** failed with ***',
      control_sliders: { audio_weight: 0.5 },
    },
  });
  expect(metadataOf({ duration: -1, control_sliders: {}, stem_type_id: 90.6 })).toEqual({ stem_type_id: 91 });
  expect(read('songs')).toEqual([]);
});

test('other songs are named by public ids', () => {
  const publicIds = { 'clip-of-ours': 'our-1', 'upload-of-ours': 'our-2' };
  const history = [
    { id: 'clip-of-ours', continue_at: 0 },
    { id: 'unknown', continue_at: 4 },
    { id: 'upload-of-ours', continue_at: -1 },
    'clip-of-ours',
  ];
  const metadata = metadataOf(
    {
      audio_prompt_id: 'upload-of-ours',
      stem_from_id: 'clip-of-ours',
      history,
      concat_history: [...Array.from({ length: 20 }, () => ({ id: 'unknown' })), { id: 'clip-of-ours' }],
    },
    { publicIds },
  );
  expect(metadata).toEqual({
    audio_prompt_id: 'our-2',
    stem_from_id: 'our-1',
    history: [{ id: 'our-1', continue_at: 0 }, { id: 'our-2' }],
  });
  expect(metadataOf({ concat_history: history.slice(0, 1) }, { publicIds })).toEqual({
    concat_history: [{ id: 'our-1', continue_at: 0 }],
  });
});

test('the number of songs and the length of texts are limited', () => {
  const long = 'a'.repeat(100_000);
  const many = Array.from({ length: 500 }, (_, index) => song(`c${index}`));
  const songs = read([song('first', { title: long, metadata: { prompt: long, tags: long } }), ...many]);
  expect(songs).toHaveLength(24);
  expect(songs[0]?.title).toHaveLength(2_000);
  expect(songs[0]?.metadata.tags).toHaveLength(2_000);
  expect(songs[0]?.metadata.prompt).toHaveLength(20_000);
  expect(read([song('a'), song('a', { title: 'later' }), song('b')]).map(({ title }) => title)).toEqual([
    'Low tide',
    'Low tide',
  ]);
});

test('lyrics are read from the first item', () => {
  const written = { id: 'of-the-provider', title: 'The lamp', text: 'Sleep' };
  const expected = {
    id: '8c551313-8e92-81af-98c8-d7f256869f12',
    status: 'complete',
    title: 'The lamp',
    text: 'Sleep',
  };
  expect(readLyrics(written, 'task_1')).toEqual(expected);
  expect(readLyrics([written, { text: 'other' }], 'task_1')).toEqual(expected);
  expect(readLyrics({ text: 'a'.repeat(20_001) }, 'task_1')).toEqual({
    id: 'b0bb3e76-1de6-811f-b21d-c185961b64b3',
    status: 'complete',
    title: '',
    text: 'a'.repeat(20_000),
  });
  for (const nothing of [null, [], {}, 'text', { text: 3 }, { text: '' }])
    expect(readLyrics(nothing, 'task_1')).toBeUndefined();
});
