import type { components } from '../generated/http.ts';
import { ByteAnswer } from './byte-answer.ts';
import type { Caller, CallOptions, Reply } from './call.ts';
import { UnigateError } from './errors.ts';
import { saveFile } from './save-file.ts';
import { type ReceiveOptions, readResuming } from './tasks/read-resuming.ts';
import type { DownloadOptions } from './tasks/task-family.ts';
import { recordState } from './tasks/task-protocol.ts';
import { type CreateOptions, createThen, named, Tasks } from './tasks/tasks.ts';
import type { WaitOptions } from './tasks/wait-for-task.ts';

type Schemas = components['schemas'];
export type MusicRequest = Schemas['SubmitMusicRequest'];
export type MusicTask = Schemas['MusicTask'];
export type SucceededMusicTask = MusicTask & { status: 'SUCCESS' };
export type Song = Schemas['Song'];
export type LyricsTask = Schemas['LyricsTask'];
export type WrittenLyrics = LyricsTask & { status: 'SUCCESS'; data: NonNullable<Schemas['Lyrics']> };
export type ClipTiming = Schemas['ClipTimingReply'];

interface Variant {
  /** The MP3, the cover or the uncompressed WAV of a song. */
  variant?: 'audio' | 'cover' | 'wav';
}

/** Songs, continuations and stems. A task makes several songs, each with a clip id of its own. */
export class Music extends Tasks<MusicRequest, Schemas['MusicSubmitReply'], MusicTask, SucceededMusicTask> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super({
      create: (body, options) => caller.call('submitMusic', { ...options, body }),
      read: (id, options) => readRecord<MusicTask>(caller, id, 'MUSIC', options),
      stateOf: (task) => recordState(task, task.fail_reason),
      isDone: (task): task is SucceededMusicTask => task.status === 'SUCCESS',
    });
    this.#caller = caller;
  }

  /** The ids in the answer of `create`, usually one; each is a task to be waited for. */
  idsOf({ data }: Schemas['MusicSubmitReply']): string[] {
    return typeof data === 'string' ? [data] : data.map(({ task_id }) => task_id);
  }

  /** `create`, then `waitFor` for all ids together. Gives the songs of all of them. */
  createAndWait(body: MusicRequest, options: CreateOptions & WaitOptions<MusicTask> = {}): Promise<Song[]> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThen(options, create, async (created, { signal, ...wait }) => {
      const stop = new AbortController();
      const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
      const waits = this.idsOf(created).map((id) => this.waitFor(id, { ...wait, signal: either }));
      // When one of them fails, nobody waits for the others any more.
      const tasks = await Promise.all(waits).finally(() => stop.abort());
      return tasks.flatMap(({ data }) => data);
    });
  }

  /** Several tasks as they stand, in any order; ids that are not there are left out. `POST /sigma/fetch` */
  async retrieveMany(ids: string[], options: CallOptions = {}): Promise<MusicTask[]> {
    const body = { ids, action: 'MUSIC' } as const;
    const { data } = await this.#caller.call('fetchMusicTasks', { ...options, body });
    return data.filter((record) => record.action === 'MUSIC');
  }

  /** Starts the same in format A; fetch reads it too. `POST /sigma/v1/music` */
  createFormatA(
    body: Schemas['CreateMusicRequest'],
    options: CreateOptions = {},
  ): Promise<Schemas['MusicCreatedReply']> {
    return this.#caller.call('createMusic', { ...named(options), body });
  }

  /** A task of any submit call as it stands, in format A. `GET /sigma/v1/music/{task_id}` */
  retrieveFormatA(id: string, options: CallOptions = {}): Promise<Schemas['MusicStateReply']> {
    return this.#caller.call('getMusic', { ...options, params: { path: { task_id: id } } });
  }

  /** Songs by their clip ids. `GET /sigma/feed/{clip_id}` */
  songs(clipIds: string | string[], options: CallOptions = {}): Promise<Song[]> {
    const params = { path: { clip_id: [clipIds].flat().join(',') } };
    return this.#caller.call('getClip', { ...options, params });
  }

  /** The times of a song's words. `GET /sigma/act/timing/{clip_id}` */
  timing(clipId: string, options: CallOptions = {}): Promise<ClipTiming> {
    return this.#caller.call('getClipTiming', { ...options, params: { path: { clip_id: clipId } } });
  }

  /** The address of a song's MP3, of its cover or of its WAV. `GET /sigma/act/wav/{clip_id}` */
  async urlOf(
    clipId: string,
    { variant = 'audio', ...options }: Variant & CallOptions = {},
  ): Promise<string> {
    if (variant === 'wav') {
      const params = { path: { clip_id: clipId } };
      return (await this.#caller.call('getClipWav', { ...options, params })).wav_file_url;
    }
    const [song] = await this.songs(clipId, options);
    const url = variant === 'cover' ? song?.image_url : song?.audio_url;
    if (!url) throw new UnigateError(`${clipId} has no ${variant}: it is ${song?.status ?? 'not there'}.`);
    return url;
  }

  /** A file of a song. `timeout` covers the wait for its beginning. */
  async download(
    clipId: string,
    { variant, range, ...options }: DownloadOptions & Variant = {},
  ): Promise<ByteAnswer> {
    const url = await this.urlOf(clipId, { ...options, variant });
    const headers = { ...options.headers, ...(range && { Range: range }) };
    return new ByteAnswer(await this.#caller.openAddress(url, { ...options, headers }));
  }

  /** Its bytes, as they come; a connection that breaks is taken up again. */
  receive(
    clipId: string,
    { variant, ...options }: ReceiveOptions & Variant = {},
  ): AsyncGenerator<Uint8Array, void> {
    const open = async (range: string | undefined, call: CallOptions) =>
      (await this.download(clipId, { ...call, variant, range })).response;
    return readResuming(open, options);
  }

  /** Writes it to a file, which appears only when it is whole. Not in a browser. */
  async downloadTo(clipId: string, file: string, options: ReceiveOptions & Variant = {}): Promise<void> {
    await saveFile(file, this.receive(clipId, options));
  }
}

/** Lyrics. `POST /sigma/submit/lyrics`, `GET /sigma/fetch/{task_id}` */
export class Lyrics extends Tasks<
  Schemas['SubmitLyricsRequest'],
  Schemas['LyricsSubmitReply'],
  LyricsTask,
  WrittenLyrics
> {
  constructor(caller: Caller) {
    super({
      create: (body, options) => caller.call('submitLyrics', { ...options, body }),
      read: (id, options) => readRecord<LyricsTask>(caller, id, 'LYRICS', options),
      stateOf: (task) => recordState(task, task.fail_reason),
      isDone: (task): task is WrittenLyrics => task.status === 'SUCCESS',
    });
  }

  /** The id in the answer of `create`. */
  idOf({ data }: Schemas['LyricsSubmitReply']): string {
    return data;
  }

  /** `create`, then `waitFor`. */
  createAndWait(
    body: Schemas['SubmitLyricsRequest'],
    options: CreateOptions & WaitOptions<LyricsTask> = {},
  ): Promise<WrittenLyrics> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThen(options, create, (created, wait) => this.waitFor(this.idOf(created), wait));
  }
}

async function readRecord<Task extends Schemas['MusicTaskRecord']>(
  caller: Caller,
  task_id: string,
  action: Task['action'],
  options: CallOptions,
): Promise<Reply<Task>> {
  const { data, ...reply } = await caller.callWithReply('fetchMusicTask', {
    ...options,
    params: { path: { task_id } },
  });
  const { data: record } = data;
  // Without this a wait for the wrong kind would give something that its type does not have.
  if (record?.action !== undefined && record.action !== action)
    throw new UnigateError(`${task_id} is a ${record.action.toLowerCase()} task.`);
  return { ...reply, data: record as Task };
}
