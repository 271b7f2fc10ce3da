import type { components } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions, CallResult } from './call.ts';
import { UnigateError } from './errors.ts';
import { copyRequestId } from './request-id.ts';
import { saveFile } from './save-file.ts';
import type { DownloadOptions } from './tasks/file-tasks.ts';
import { downloadWithResume, type ReceiveOptions } from './tasks/resumable-download.ts';
import { recordState } from './tasks/task-protocol.ts';
import { type CreateOptions, createThenWait, Tasks, withIdempotencyKey } from './tasks/tasks.ts';
import type { WaitOptions } from './tasks/wait-for-task.ts';

type Schemas = components['schemas'];
export type MusicRequest = Schemas['SubmitMusicRequest'];
export type MusicTask = Schemas['MusicTask'];
export type SucceededMusicTask = MusicTask & { status: 'SUCCESS' };
export type Song = Schemas['Song'];
export type LyricsTask = Schemas['LyricsTask'];
export type SucceededLyricsTask = LyricsTask & { status: 'SUCCESS'; data: NonNullable<Schemas['Lyrics']> };
export type ClipTiming = Schemas['ClipTimingReply'];

interface Variant {
  /** MP3, cover image or uncompressed WAV of a song. */
  variant?: 'audio' | 'cover' | 'wav';
}

/** Songs, continuations and stems. A task creates several songs, each with its own clip id. */
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

  /** Returns the task ids in the response of `create`, usually one. */
  idsOf({ data }: Schemas['MusicSubmitReply']): string[] {
    return typeof data === 'string' ? [data] : data.map(({ task_id }) => task_id);
  }

  /** Calls `create`, then `waitFor` for all ids in parallel. Returns all songs. */
  createAndWait(body: MusicRequest, options: CreateOptions & WaitOptions<MusicTask> = {}): Promise<Song[]> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThenWait(options, create, async (created, { signal, ...wait }) => {
      const stop = new AbortController();
      const combined = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
      const waits = this.idsOf(created).map((id) => this.waitFor(id, { ...wait, signal: combined }));
      // Stops polling the other tasks when one fails.
      const tasks = await Promise.all(waits).finally(() => stop.abort());
      return tasks.flatMap(({ data }) => data);
    });
  }

  /** Retrieves several tasks in any order. Omits unknown ids. `POST /sigma/fetch` */
  async retrieveMany(ids: string[], options: CallOptions = {}): Promise<MusicTask[]> {
    const body = { ids, action: 'MUSIC' } as const;
    const { data } = await this.#caller.call('fetchMusicTasks', { ...options, body });
    return copyRequestId(
      data,
      data.filter((record) => record.action === 'MUSIC'),
    );
  }

  /** Starts a music task in format A. `retrieve` also reads it. `POST /sigma/v1/music` */
  createFormatA(
    body: Schemas['CreateMusicRequest'],
    options: CreateOptions = {},
  ): Promise<Schemas['MusicCreatedReply']> {
    return this.#caller.call('createMusic', { ...withIdempotencyKey(options), body });
  }

  /** Retrieves a task of any kind in format A. `GET /sigma/v1/music/{task_id}` */
  retrieveFormatA(id: string, options: CallOptions = {}): Promise<Schemas['MusicStateReply']> {
    return this.#caller.call('getMusic', { ...options, params: { path: { task_id: id } } });
  }

  /** Retrieves songs by clip id. `GET /sigma/feed/{clip_id}` */
  songs(clipIds: string | string[], options: CallOptions = {}): Promise<Song[]> {
    const params = { path: { clip_id: [clipIds].flat().join(',') } };
    return this.#caller.call('getClip', { ...options, params });
  }

  /** Returns the word timing of a song. `GET /sigma/act/timing/{clip_id}` */
  timing(clipId: string, options: CallOptions = {}): Promise<ClipTiming> {
    return this.#caller.call('getClipTiming', { ...options, params: { path: { clip_id: clipId } } });
  }

  /** Returns the URL of a song's MP3, cover or WAV. `GET /sigma/act/wav/{clip_id}` */
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
    if (!url)
      throw new UnigateError(
        `${clipId} has no ${variant}: ${song ? `its status is ${song.status}` : 'the song does not exist'}.`,
      );
    return url;
  }

  /** Downloads a file of a song. `timeout` applies until the headers arrive. */
  async download(
    clipId: string,
    { variant, range, ...options }: DownloadOptions & Variant = {},
  ): Promise<BinaryResponse> {
    const url = await this.urlOf(clipId, { ...options, variant });
    const headers = { ...options.headers, ...(range && { Range: range }) };
    return new BinaryResponse(await this.#caller.openAddress(url, { ...options, headers }));
  }

  /** Streams a file of a song and resumes after a lost connection. */
  receive(
    clipId: string,
    { variant, ...options }: ReceiveOptions & Variant = {},
  ): AsyncGenerator<Uint8Array, void> {
    const open = async (range: string | undefined, call: CallOptions) =>
      (await this.download(clipId, { ...call, variant, range })).response;
    return downloadWithResume(open, options);
  }

  /** Writes a file of a song to disk. The file appears only when it is complete. Not available in browsers. */
  async downloadTo(clipId: string, file: string, options: ReceiveOptions & Variant = {}): Promise<void> {
    await saveFile(file, this.receive(clipId, options));
  }
}

/** Lyrics. `POST /sigma/submit/lyrics`, `GET /sigma/fetch/{task_id}` */
export class Lyrics extends Tasks<
  Schemas['SubmitLyricsRequest'],
  Schemas['LyricsSubmitReply'],
  LyricsTask,
  SucceededLyricsTask
> {
  constructor(caller: Caller) {
    super({
      create: (body, options) => caller.call('submitLyrics', { ...options, body }),
      read: (id, options) => readRecord<LyricsTask>(caller, id, 'LYRICS', options),
      stateOf: (task) => recordState(task, task.fail_reason),
      isDone: (task): task is SucceededLyricsTask => task.status === 'SUCCESS',
    });
  }

  /** Returns the id in the response of `create`. */
  idOf({ data }: Schemas['LyricsSubmitReply']): string {
    return data;
  }

  /** Calls `create`, then `waitFor`. */
  createAndWait(
    body: Schemas['SubmitLyricsRequest'],
    options: CreateOptions & WaitOptions<LyricsTask> = {},
  ): Promise<SucceededLyricsTask> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThenWait(options, create, (created, wait) => this.waitFor(this.idOf(created), wait));
  }
}

async function readRecord<Task extends Schemas['MusicTaskRecord']>(
  caller: Caller,
  task_id: string,
  action: Task['action'],
  options: CallOptions,
): Promise<CallResult<Task>> {
  const { data, ...reply } = await caller.callWithResponse('fetchMusicTask', {
    ...options,
    params: { path: { task_id } },
  });
  const { data: record } = data;
  // Without this check, waiting for a task of another kind would return an object of the wrong type.
  if (record?.action !== undefined && record.action !== action)
    throw new UnigateError(`${task_id} is a ${record.action.toLowerCase()} task.`);
  return { ...reply, data: record as Task };
}
