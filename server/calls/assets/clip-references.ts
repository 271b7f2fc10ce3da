import type { Gateway } from '../../http/gateway.ts';
import { type Caller, viewerOf } from '../../keys/caller.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { PublicIds } from '../../providers/public-ids.ts';
import { songsOf, splitIds } from '../../providers/sigma/music.ts';
import { type ClipRecord, findClips } from '../../store/queries/clips.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { differentProviders } from './references.ts';

/** More references than any task of a provider has. */
const maxReferences = 10;

/** A field of a request and the public id in it. */
interface Reference {
  name: string;
  id: string;
  /** The client's name of the field, for error messages. */
  field: string;
}

/** The upstream ids of a reference. */
interface ResolvedReference {
  channel: string;
  upstreamId: string;
  upstreamTaskId: string;
  taskId: string;
  publicIds: PublicIds;
}

/** The caller's own clips and tasks by their public ids. */
interface ReferencedItems {
  clips: ReadonlyMap<string, ClipRecord>;
  tasks: ReadonlyMap<string, TaskRecord>;
}

/** An upstream's body, and the song or task that it continues. */
interface ResolvedBody {
  body: Readonly<Record<string, unknown>>;
  source?: { channel: string; field: string; id: string; publicIds: PublicIds };
}

/**
 * Replaces public song and task ids in a music request with the provider's ids. A song is named by its clip id or by its
 * task's id. `prefix` precedes the client's field names in error messages.
 *
 * @throws Failure 404 when the caller has no such song or task, 409 when a song is not complete yet, 400 when the song
 *   failed, the task did not make the song, or two channels have them
 */
export async function resolveClips(
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  body: Readonly<Record<string, unknown>>,
  prefix = '',
): Promise<ResolvedBody> {
  const references = Object.entries(body).flatMap(([name, id]): Reference[] => {
    if (name !== 'task_id' && !/(^|_)clip_id$/.test(name)) return [];
    if (typeof id !== 'string') throw invalid(prefix + name, 'must be a string.');
    return [{ name, id, field: prefix + name }];
  });
  const [first] = references;
  if (first === undefined) return { body };
  const beyond = references[maxReferences];
  if (beyond !== undefined)
    throw invalid(beyond.field, `at most ${maxReferences} fields may name a song or a task.`);
  const found = await findReferenced(gateway, caller, references);
  const resolvedReferences = references.map((one) => ({ ...one, ...resolveReference(one, found) }));
  const task = resolvedReferences.find(({ name }) => name === 'task_id');
  const song = resolvedReferences.find(({ name }) => name !== 'task_id');
  if (task !== undefined && song !== undefined && song.taskId !== task.id)
    throw invalid(task.field, `${quoted(task.id)} did not make the song of ${song.field}.`);
  const [channel = '', other] = new Set(resolvedReferences.map((one) => one.channel));
  if (other !== undefined)
    throw differentProviders(resolvedReferences.filter((one, index) => index === 0 || one.channel === other));
  const publicIds = Object.fromEntries(resolvedReferences.flatMap((one) => Object.entries(one.publicIds)));
  const resolved = Object.fromEntries(resolvedReferences.map(({ name, upstreamId }) => [name, upstreamId]));
  // The provider needs the task of the song.
  const source = song ?? task;
  const own = { ...body, ...resolved, task_id: source?.upstreamTaskId };
  return { body: own, source: { channel, field: first.field, id: first.id, publicIds } };
}

async function findReferenced(
  gateway: Gateway,
  caller: Caller,
  references: readonly Reference[],
): Promise<ReferencedItems> {
  const { read } = gateway.store;
  const viewer = viewerOf(caller);
  const ids = references.map(({ id }) => id);
  const named = await findClips(read, { ids, ...viewer });
  // An id that is not a song's may be a task's.
  const taskIds = new Set([...ids, ...named.map(({ taskId }) => taskId)]);
  const tasks = await gateway.tasks.readAll({ ids: [...taskIds], ...viewer, format: 'music' });
  const firsts = tasks.flatMap((one) => songsOf(one)[0]?.id ?? []);
  const clips = [...named, ...(await findClips(read, { ids: firsts, ...viewer }))];
  return {
    clips: new Map(clips.map((clip) => [clip.id, clip])),
    tasks: new Map(tasks.map((one) => [one.id, one])),
  };
}

function resolveReference(reference: Reference, found: ReferencedItems): ResolvedReference {
  return reference.name === 'task_id' ? resolveTask(reference, found) : resolveSong(reference, found);
}

/** @throws Failure when the song cannot be used */
function resolveSong({ id, field }: Reference, { clips, tasks }: ReferencedItems): ResolvedReference {
  // A task id means the first song of the task.
  const named = tasks.get(id);
  const clip = clips.get(named === undefined ? id : (songsOf(named)[0]?.id ?? ''));
  const task = tasks.get(clip?.taskId ?? id);
  if (task === undefined)
    throw new Failure(404, 'resource_not_found', `${field}: there is no song ${quoted(id)} here.`);
  const song = songsOf(task).find((one) => one.id === clip?.id);
  if (clip !== undefined && song?.status === 'complete') {
    const { channel, upstreamId, upstreamTaskId, taskId } = clip;
    const publicIds = { [upstreamId]: clip.id, [upstreamTaskId]: taskId };
    return { channel, upstreamId, upstreamTaskId, taskId, publicIds };
  }
  if (task.completedAt !== null || song?.status === 'error')
    throw invalid(field, `${quoted(id)} has no song: its task is ${task.state}.`);
  const message = `${field}: the song is not complete yet; poll its task until it is.`;
  throw new Failure(409, 'resource_not_ready', message);
}

/** @throws Failure when no provider has the task */
function resolveTask({ id, field }: Reference, { tasks }: ReferencedItems): ResolvedReference {
  const task = tasks.get(id);
  if (task === undefined)
    throw new Failure(404, 'resource_not_found', `${field}: there is no task ${quoted(id)} here.`);
  const { channel, state, upstreamId } = task;
  if (upstreamId === null)
    throw invalid(field, `task ${quoted(id)} is ${state} and was not accepted by a provider.`);
  const [first = ''] = splitIds(upstreamId);
  return { channel, upstreamId: first, upstreamTaskId: first, taskId: id, publicIds: { [first]: id } };
}
