import type { TaskError } from '../../lib/failure.ts';
import { defined, field, idField, listField, objectField, percentField, textField } from '../../lib/json.ts';
import type { AcceptedTask, Snapshot, TaskDriver, Upstream } from '../../tasks/driver.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { publicIdsIn, taskErrorFrom } from '../public-ids.ts';
import { invalidResponse, pollTask, requestTask, taskLost } from '../task-request.ts';
import { failureCode, isNotFound, throwOnFailure } from './envelope.ts';
import { joinIds, type MusicFacts, type MusicResult, type MusicVersion, splitIds } from './music.ts';
import { type FoundSong, readLyrics, readSongs } from './songs.ts';

const failed: TaskError = { code: 'music_generation_failed', message: 'The provider made no result.' };

const maxTasks = 12;

export const sigmaDriver: TaskDriver = {
  async submit({ model, facts }, request, upstream) {
    const { action, mv }: MusicFacts = facts;
    const lyrics = action === 'LYRICS';
    const path = lyrics ? '/sigma/submit/lyrics' : '/sigma/submit/music';
    const body = lyrics ? request : { ...request, mv: upstreamVersion(mv, model, upstream) };
    const answer = await requestTask(upstream, { method: 'POST', path, body });
    throwOnFailure(answer, new ProviderRedactor(upstream.channel, request));
    const ids = submittedIds(field(answer, 'data'));
    const upstreamId = joinIds(ids);
    if (upstreamId === undefined || ids.length > maxTasks) throw invalidResponse();
    return { upstreamId };
  },

  poll(task, upstream) {
    const ids = splitIds(task.upstreamId);
    const [id = '', ...others] = ids;
    const request =
      others.length === 0
        ? `/sigma/fetch/${encodeURIComponent(id)}`
        : { method: 'POST' as const, path: '/sigma/fetch', body: { ids } };
    return pollTask(upstream, request, (answer) => {
      const records = others.length === 0 ? new Map([[id, recordIn(answer)]]) : recordsIn(answer, ids);
      const parts = ids.map((one) => partOf(task, one, records.get(one), upstream));
      return mergeParts(task, parts);
    });
  },
};

/** A channel may rename the current version. The version for stems has the same name everywhere. */
function upstreamVersion(mv: MusicVersion = 'chirp-hawk', model: string, { channel }: Upstream): string {
  const named = channel.upstreamModel(model);
  return mv === 'chirp-auk' || named === model ? mv : named;
}

/** Reads the ids in a submission's response: one id, or a list of tasks. */
function submittedIds(data: unknown): string[] {
  const found = Array.isArray(data)
    ? data.map((one) => (typeof one === 'string' ? idField({ one }, 'one') : idField(one, 'task_id')))
    : [idField({ data }, 'data') ?? idField(data, 'task_id')];
  return [...new Set(found)].filter((id) => id !== undefined);
}

/** Reads a task's record, with or without an envelope. Undefined if the provider no longer has the task. */
function recordIn(answer: unknown): unknown {
  if (textField(answer, 'status') !== undefined) return answer;
  const code = failureCode(answer);
  if (code !== undefined && isNotFound(code)) return undefined;
  const record = objectField(answer, 'data');
  if (record === undefined) throw invalidResponse();
  return record;
}

function recordsIn(answer: unknown, ids: readonly string[]): ReadonlyMap<string, unknown> {
  const list: readonly unknown[] = Array.isArray(answer) ? answer : listField(answer, 'data');
  const records = new Map(list.map((record) => [idField(record, 'task_id') ?? '', record]));
  // A response without any record does not prove that all tasks are lost.
  if (!ids.some((id) => records.has(id))) throw invalidResponse();
  return records;
}

interface UpstreamPart {
  state: Snapshot['state'];
  progress: number;
  songs: readonly FoundSong[];
  lyrics?: MusicResult['lyrics'];
  error?: { code: string; message: string };
}

/** Any other status counts as queued. */
const states: ReadonlyMap<unknown, Snapshot['state']> = new Map([
  ['SUCCESS', 'completed'],
  ['FAILURE', 'failed'],
  ['IN_PROGRESS', 'in_progress'],
]);

function partOf(
  task: AcceptedTask,
  upstreamId: string,
  record: unknown,
  { channel }: Upstream,
): UpstreamPart {
  if (record === undefined) return { state: 'failed', progress: 100, songs: [], error: taskLost };
  const state = states.get(field(record, 'status')) ?? 'queued';
  if (state === 'failed') {
    const reason = { message: textField(record, 'fail_reason') };
    const error = taskErrorFrom({ ...task, upstreamId }, channel, reason, failed);
    return { state, progress: 100, songs: [], error };
  }
  const { action, mv = 'chirp-hawk' }: MusicFacts = task.facts;
  const data = field(record, 'data');
  const isEnded = state === 'completed';
  const progress = isEnded ? 100 : percentField(record, 'progress');
  if (action === 'LYRICS') {
    const lyrics = isEnded ? readLyrics(data, task.id) : undefined;
    return { state, progress, songs: [], ...defined({ lyrics }) };
  }
  const publicIds = publicIdsIn(task.facts);
  const redactor = new ProviderRedactor(channel, task.facts.sent_hosts);
  const songs = readSongs(data, { id: task.id, mv, upstreamId, isEnded, publicIds, redactor });
  return { state, progress, songs };
}

/** Combines the upstream tasks. The task ends with the last of them. */
function mergeParts(task: AcceptedTask, parts: readonly UpstreamPart[]): Snapshot {
  const found = parts.flatMap(({ songs }) => songs);
  const songs = found.map(({ song }) => song);
  const lyrics = parts.find((part) => part.lyrics !== undefined)?.lyrics;
  const result: MusicResult = { ...(songs.length > 0 && { songs }), ...defined({ lyrics }) };
  const output = {
    ...(Object.keys(result).length > 0 && { result: { ...result } }),
    clips: found.map(({ clip }) => clip),
  };
  if (parts.some(({ state }) => state === 'queued' || state === 'in_progress')) {
    const isStarted = task.state === 'in_progress' || parts.some(({ state }) => state !== 'queued');
    const progress = parts.reduce((sum, part) => sum + part.progress, 0) / parts.length;
    return { state: isStarted ? 'in_progress' : 'queued', progress, ...output };
  }
  // Only playable songs are charged.
  const units = lyrics === undefined ? songs.filter(({ status }) => status === 'complete').length : 1;
  if (units === 0)
    return { state: 'failed', error: parts.find(({ error }) => error !== undefined)?.error ?? failed };
  return { state: 'completed', result: { ...result }, clips: output.clips, usage: { units } };
}
