import type { Gateway } from '../../http/gateway.ts';
import { type Caller, viewerOf } from '../../keys/caller.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { PublicIds } from '../../providers/public-ids.ts';
import { separateIds, songsOf } from '../../providers/sigma/music.ts';
import { type ClipRecord, findClips } from '../../store/queries/clips.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { keptApart } from './references.ts';

/** More fields than any task of a provider has that name a song. */
const maxReferences = 10;

/** A field of a request and the public id in it. */
interface Reference {
  name: string;
  id: string;
  /** As the client calls it, for messages. */
  field: string;
}

/** What a reference means upstream. */
interface Meaning {
  channel: string;
  upstreamId: string;
  /** The task upstream, and the task here. */
  upstreamTaskId: string;
  taskId: string;
  publicIds: PublicIds;
}

/** The caller's own clips and tasks by their public ids. */
interface Found {
  clips: ReadonlyMap<string, ClipRecord>;
  tasks: ReadonlyMap<string, TaskRecord>;
}

/** An upstream's body, and what it goes on from. */
interface ResolvedBody {
  body: Readonly<Record<string, unknown>>;
  source?: { channel: string; field: string; id: string; publicIds: PublicIds };
}

/**
 * Puts the provider's ids in the place of the caller's own in a request for music: of the songs that its fields name,
 * by their clip ids or by their tasks', and of the task that made them. `prefix` stands before the names of the fields
 * where the client has them.
 *
 * @throws Failure 404 when there is no such song or task of the caller's, 409 when a song is not complete yet, 400 when
 *   it was not made, or the task is not the song's, or two channels have them
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
  const found = await lookUp(gateway, caller, references);
  const meant = references.map((one) => ({ ...one, ...meaningOf(one, found) }));
  const task = meant.find(({ name }) => name === 'task_id');
  const song = meant.find(({ name }) => name !== 'task_id');
  if (task !== undefined && song !== undefined && song.taskId !== task.id)
    throw invalid(task.field, `${quoted(task.id)} did not make the song of ${song.field}.`);
  const [channel = '', other] = new Set(meant.map((one) => one.channel));
  if (other !== undefined)
    throw keptApart(meant.filter((one, index) => index === 0 || one.channel === other));
  const publicIds = Object.fromEntries(meant.flatMap((one) => Object.entries(one.publicIds)));
  const resolved = Object.fromEntries(meant.map(({ name, upstreamId }) => [name, upstreamId]));
  // The provider wants the task beside its song.
  const made = song ?? task;
  const own = { ...body, ...resolved, task_id: made?.upstreamTaskId };
  return { body: own, source: { channel, field: first.field, id: first.id, publicIds } };
}

async function lookUp(gateway: Gateway, caller: Caller, references: readonly Reference[]): Promise<Found> {
  const { read } = gateway.store;
  const viewer = viewerOf(caller);
  const ids = references.map(({ id }) => id);
  const named = await findClips(read, { ids, ...viewer });
  // What is no song may be a task.
  const taskIds = new Set([...ids, ...named.map(({ taskId }) => taskId)]);
  const tasks = await gateway.tasks.readAll({ ids: [...taskIds], ...viewer, format: 'music' });
  const firsts = tasks.flatMap((one) => songsOf(one)[0]?.id ?? []);
  const clips = [...named, ...(await findClips(read, { ids: firsts, ...viewer }))];
  return {
    clips: new Map(clips.map((clip) => [clip.id, clip])),
    tasks: new Map(tasks.map((one) => [one.id, one])),
  };
}

function meaningOf(reference: Reference, found: Found): Meaning {
  return reference.name === 'task_id' ? taskMeant(reference, found) : songMeant(reference, found);
}

/** @throws Failure when nothing can be made of the song */
function songMeant({ id, field }: Reference, { clips, tasks }: Found): Meaning {
  // By its own id, or as the first one of its task.
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
    throw invalid(field, `there is no song of ${quoted(id)}; its task is ${task.state}.`);
  const message = `${field}: the song is not complete yet; poll its task until it is.`;
  throw new Failure(409, 'resource_not_ready', message);
}

/** @throws Failure when no provider has the task */
function taskMeant({ id, field }: Reference, { tasks }: Found): Meaning {
  const task = tasks.get(id);
  if (task === undefined)
    throw new Failure(404, 'resource_not_found', `${field}: there is no task ${quoted(id)} here.`);
  const { channel, state, upstreamId } = task;
  if (upstreamId === null) throw invalid(field, `task ${quoted(id)} is ${state}, and no provider has it.`);
  const [first = ''] = separateIds(upstreamId);
  return { channel, upstreamId: first, upstreamTaskId: first, taskId: id, publicIds: { [first]: id } };
}
