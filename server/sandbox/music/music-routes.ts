import { type Exchange, type Route, sendJson } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { Parameters } from '../native/parameters.ts';
import { applyPollTriggers, idFromPath, sendCreated, withErrorFormat } from '../tasks/protocol.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import { failOrHang } from '../triggered-errors.ts';
import { findTriggers, type Triggers } from '../triggers.ts';
import { readLyricsRequest, readMusicRequest } from './music-request.ts';
import type { SigmaTask } from './music-task.ts';
import { MusicTasks } from './music-tasks.ts';
import type { SongOptions } from './plan-clips.ts';
import { createClipNotFoundError, createTaskNotFoundError, formatError } from './sigma-error.ts';
import { formatSongs, formatTask } from './task-view.ts';

/** Maximum number of tasks in one request. */
const maxIds = 100;

/** The sigma protocol: songs and lyrics as tasks, and requests for single clips. */
export function musicRoutes(services: TaskServices, options: SongOptions): Route[] {
  const { results } = services;
  const tasks = new MusicTasks(services, options);

  async function submitMusic(exchange: Exchange): Promise<void> {
    const request = readMusicRequest(await readJson(exchange.request));
    const { lyrics, description, title, tags } = request;
    const triggers = findTriggers(lyrics, description, title, tags);
    await failOrHang(exchange, triggers);
    await sendTaskId(exchange, triggers, tasks.addMusic(request, triggers));
  }

  async function submitLyrics(exchange: Exchange): Promise<void> {
    const prompt = readLyricsRequest(await readJson(exchange.request));
    const triggers = findTriggers(prompt);
    await failOrHang(exchange, triggers);
    await sendTaskId(exchange, triggers, tasks.addLyrics(prompt, triggers));
  }

  async function fetchOne(exchange: Exchange): Promise<void> {
    const task = tasks.find(idFromPath(exchange));
    if (!task) throw createTaskNotFoundError();
    if (await applyPollTriggers(exchange, task)) return;
    sendJson(exchange, 200, { code: 'success', message: '', data: formatTask(task, results) });
  }

  async function fetchMany(exchange: Exchange): Promise<void> {
    const request = new Parameters(await readJson(exchange.request), '');
    const action = request.optionalChoice('action', ['MUSIC', 'LYRICS'] as const);
    const found = readIds(request)
      .map((id) => tasks.find(id))
      .filter((task): task is SigmaTask => task !== undefined)
      .filter((task) => action === undefined || task.request.action === action);
    for (const task of found) if (await applyPollTriggers(exchange, task)) return;
    sendJson(exchange, 200, {
      code: 'success',
      message: '',
      data: found.map((task) => formatTask(task, results)),
    });
  }

  /** Returns a plain array without the unknown clips. */
  async function listClips(exchange: Exchange): Promise<void> {
    const ids = idFromPath(exchange).split(',').slice(0, maxIds);
    const songs = ids.flatMap((id) => {
      const clip = tasks.findClip(id);
      const song = clip && formatSongs(clip.task, results)[clip.index];
      return song ? [song] : [];
    });
    sendJson(exchange, 200, songs);
  }

  /** The URL is empty until the clip is complete. The file is rendered on the first download. */
  async function sendWavUrl(exchange: Exchange): Promise<void> {
    const clip = tasks.findClip(idFromPath(exchange));
    if (!clip) throw createClipNotFoundError();
    const { finished, expiresAt } = clip;
    sendJson(exchange, 200, { wav_file_url: finished ? results.signUrl(finished.wav, expiresAt) : '' });
  }

  /** Empty until the clip is complete. Contains exactly the sung words. */
  async function sendTiming(exchange: Exchange): Promise<void> {
    const clip = tasks.findClip(idFromPath(exchange));
    if (!clip) throw createClipNotFoundError();
    const facts = clip.finished?.facts;
    const words = facts?.words.map(({ written, start, end }) => ({
      word: written,
      success: true,
      start_s: roundToThousandth(start),
      end_s: roundToThousandth(end),
      p_align: 1,
    }));
    sendJson(exchange, 200, {
      aligned_words: words ?? [],
      waveform_data: facts?.waveform ?? [],
      hoot_cer: roundToThousandth(facts?.unsung ?? 0),
      is_streamed: facts === undefined,
    });
  }

  const route = (methods: readonly string[], path: RegExp, handler: Route['handler']): Route => ({
    methods,
    path,
    handler: withErrorFormat(formatError, handler),
  });
  return [
    route(['POST'], /^\/sigma\/submit\/music$/, submitMusic),
    route(['POST'], /^\/sigma\/submit\/lyrics$/, submitLyrics),
    route(['GET'], /^\/sigma\/fetch\/[^/]+$/, fetchOne),
    route(['POST'], /^\/sigma\/fetch$/, fetchMany),
    route(['GET'], /^\/sigma\/feed\/[^/]+$/, listClips),
    route(['GET'], /^\/sigma\/act\/wav\/[^/]+$/, sendWavUrl),
    route(['GET'], /^\/sigma\/act\/timing\/[^/]+$/, sendTiming),
  ];
}

async function sendTaskId(exchange: Exchange, triggers: Triggers, id: string): Promise<void> {
  await sendCreated(exchange, triggers, { code: 'success', message: '', data: id });
}

function readIds(request: Parameters): string[] {
  const ids = request.list('ids');
  if (ids.length === 0 || ids.length > maxIds)
    throw request.invalid('ids', `must have 1 to ${maxIds} members`);
  return ids.map((id) => {
    if (typeof id !== 'string') throw request.invalid('ids', 'must contain only strings');
    return id;
  });
}

function roundToThousandth(value: number): number {
  return Math.round(value * 1000) / 1000;
}
