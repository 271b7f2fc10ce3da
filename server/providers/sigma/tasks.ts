import type { TaskError } from '../../lib/failure.ts';
import type { AcceptedTask, Snapshot, TaskDriver, Upstream } from '../../tasks/driver.ts';
import { askForTask, badAnswer, pollForTask, taskLost } from '../ask-for-task.ts';
import { field, idField, objectField, percentField, textField } from '../json.ts';
import { ProviderWords } from '../provider-words.ts';
import { publicIdsIn, reportedError } from '../public-ids.ts';
import { failureCode, isUnknown, refuseFailure } from './envelope.ts';
import { joinedIds, type MusicFacts, type MusicResult, type MusicVersion, separateIds } from './music.ts';
import { type FoundSong, readLyrics, readSongs } from './songs.ts';

const failed: TaskError = { code: 'music_generation_failed', message: 'The provider made nothing of it.' };

/** More tasks than a request can become upstream. */
const maxTasks = 12;

/** Songs, stems and lyrics in the sigma protocol. */
export const sigmaDriver: TaskDriver = {
  async submit({ model, facts }, request, upstream) {
    const { action, mv }: MusicFacts = facts;
    const lyrics = action === 'LYRICS';
    const path = lyrics ? '/sigma/submit/lyrics' : '/sigma/submit/music';
    const body = lyrics ? request : { ...request, mv: upstreamVersion(mv, model, upstream) };
    const answer = await askForTask(upstream, { method: 'POST', path, body });
    refuseFailure(answer, new ProviderWords(upstream.channel, request));
    const ids = submittedIds(field(answer, 'data'));
    const upstreamId = joinedIds(ids);
    if (upstreamId === undefined || ids.length > maxTasks) throw badAnswer();
    return { upstreamId };
  },

  poll(task, upstream) {
    const ids = separateIds(task.upstreamId);
    const [id = ''] = ids;
    if (ids.length === 1)
      return pollForTask(upstream, `/sigma/fetch/${encodeURIComponent(id)}`, (answer) =>
        merged(task, [partOf(task, id, recordIn(answer), upstream)]),
      );
    const request = { method: 'POST' as const, path: '/sigma/fetch', body: { ids } };
    return pollForTask(upstream, request, (answer) => {
      const records = recordsIn(answer);
      // One answer without any record is no proof that the provider lost all of them.
      if (!ids.some((one) => records.has(one))) throw badAnswer();
      return merged(
        task,
        ids.map((one) => partOf(task, one, records.get(one), upstream)),
      );
    });
  },
};

/** A channel may call the current version otherwise; what takes songs apart has one name everywhere. */
function upstreamVersion(mv: MusicVersion = 'chirp-hawk', model: string, { channel }: Upstream): string {
  const named = channel.upstreamModel(model);
  return mv === 'chirp-auk' || named === model ? mv : named;
}

/** The ids in the answer to a submission: one id, or a list of tasks. */
function submittedIds(data: unknown): string[] {
  const found = Array.isArray(data)
    ? data.map((one) => (typeof one === 'string' ? idField({ one }, 'one') : idField(one, 'task_id')))
    : [idField({ data }, 'data') ?? idField(data, 'task_id')];
  return [...new Set(found)].filter((id) => id !== undefined);
}

/** The record of a task, wrapped or bare; undefined when the provider knows the task no more. */
function recordIn(answer: unknown): unknown {
  if (textField(answer, 'status') !== undefined) return answer;
  const code = failureCode(answer);
  if (code !== undefined && isUnknown(code)) return undefined;
  const record = objectField(answer, 'data');
  if (record === undefined) throw badAnswer();
  return record;
}

/** The records of several tasks by their ids; those that the provider does not know are left out. */
function recordsIn(answer: unknown): ReadonlyMap<string, unknown> {
  const records = Array.isArray(answer) ? answer : field(answer, 'data');
  if (!Array.isArray(records)) throw badAnswer();
  return new Map(records.map((record) => [idField(record, 'task_id') ?? '', record]));
}

/** What one upstream task has come to. */
interface Part {
  state: Snapshot['state'];
  progress: number;
  songs: readonly FoundSong[];
  lyrics?: MusicResult['lyrics'];
  error?: { code: string; message: string };
}

function partOf(task: AcceptedTask, upstreamId: string, record: unknown, { channel }: Upstream): Part {
  if (record === undefined) return { state: 'failed', progress: 100, songs: [], error: taskLost };
  const state = stateOf(textField(record, 'status'));
  if (state === 'failed') {
    const reason = { message: textField(record, 'fail_reason') };
    const error = reportedError({ ...task, upstreamId }, channel, reason, failed);
    return { state, progress: 100, songs: [], error };
  }
  const { action, mv = 'chirp-hawk' }: MusicFacts = task.facts;
  const data = field(record, 'data');
  const ended = state === 'completed';
  const progress = ended ? 100 : percentField(record, 'progress');
  if (action === 'LYRICS') {
    const lyrics = ended ? readLyrics(data, task.id) : undefined;
    return { state, progress, songs: [], ...(lyrics !== undefined && { lyrics }) };
  }
  const publicIds = publicIdsIn(task.facts);
  const words = new ProviderWords(channel, task.facts.sent_hosts);
  const songs = readSongs(data, { id: task.id, mv, upstreamId, ended, publicIds, words });
  return { state, progress, songs };
}

/** Of one upstream task; one that nobody knows the status of waits. What has begun as a whole does not go back. */
function stateOf(status: string | undefined): Snapshot['state'] {
  switch (status) {
    case 'SUCCESS':
      return 'completed';
    case 'FAILURE':
      return 'failed';
    case 'IN_PROGRESS':
      return 'in_progress';
    default:
      return 'queued';
  }
}

/** What the upstream tasks have come to together: the whole ends with the last of them. */
function merged(task: AcceptedTask, parts: readonly Part[]): Snapshot {
  const found = parts.flatMap(({ songs }) => songs);
  const songs = found.map(({ song }) => song);
  const lyrics = parts.find((part) => part.lyrics !== undefined)?.lyrics;
  const result: MusicResult = { ...(songs.length > 0 && { songs }), ...(lyrics !== undefined && { lyrics }) };
  const kept = {
    ...(Object.keys(result).length > 0 && { result: { ...result } }),
    clips: found.map(({ clip }) => clip),
  };
  if (parts.some(({ state }) => state === 'queued' || state === 'in_progress')) {
    const begun = task.state === 'in_progress' || parts.some(({ state }) => state !== 'queued');
    const progress = parts.reduce((sum, part) => sum + part.progress, 0) / parts.length;
    return { state: begun ? 'in_progress' : 'queued', progress, ...kept };
  }
  // What cannot be played is not paid for.
  const units = lyrics === undefined ? songs.filter(({ status }) => status === 'complete').length : 1;
  if (units === 0)
    return { state: 'failed', error: parts.find(({ error }) => error !== undefined)?.error ?? failed };
  return { state: 'completed', result: { ...result }, clips: kept.clips, usage: { units } };
}
