import type { components } from '../../../generated/http.ts';
import { Failure } from '../../lib/failure.ts';
import {
  booleanField,
  field,
  listField,
  numberField,
  objectField,
  readFields,
  textField,
  urlField,
} from '../../lib/json.ts';
import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { invalidResponse, isGone, rejected, requestTask } from '../task-request.ts';
import { isNotFound, throwOnFailure } from './envelope.ts';

type Timing = components['schemas']['ClipTimingReply'];

/** More than any song has. The rest is dropped. */
const maxWords = 10_000;
const maxSteps = 100_000;
const maxWordLength = 1_000;

/** Fetches the URL of a song's WAV file. Undefined while there is none. @throws DriverError as `fetchClip` */
export async function fetchWav(upstream: Upstream, upstreamId: string): Promise<string | undefined> {
  const answer = await fetchClip(upstream, `/sigma/act/wav/${encodeURIComponent(upstreamId)}`);
  const url = urlField(answer, 'wav_file_url');
  if (url === undefined && textField(answer, 'wav_file_url') !== undefined) throw invalidResponse();
  return url;
}

/** Fetches the timing of a song's words and its waveform. @throws DriverError as `fetchClip` */
export async function fetchTiming(upstream: Upstream, upstreamId: string): Promise<Timing> {
  const answer = await fetchClip(upstream, `/sigma/act/timing/${encodeURIComponent(upstreamId)}`);
  const words = field(answer, 'aligned_words');
  if (!Array.isArray(words)) throw invalidResponse();
  const steps = listField(answer, 'waveform_data').slice(0, maxSteps);
  return {
    aligned_words: words.slice(0, maxWords).flatMap(wordOf),
    waveform_data: steps.filter((step): step is number => typeof step === 'number' && Number.isFinite(step)),
    ...readFields(answer, { hoot_cer: numberField, is_streamed: booleanField }),
  };
}

/** Drops a word without a time. */
function wordOf(reported: unknown): Timing['aligned_words'] {
  const word = field(reported, 'word');
  const [start, end] = [numberField(reported, 'start_s'), numberField(reported, 'end_s')];
  if (typeof word !== 'string' || start === undefined || end === undefined) return [];
  const times = { start_s: Math.max(0, start), end_s: Math.max(0, end) };
  const others = readFields(reported, { success: booleanField, p_align: numberField });
  return [{ word: word.slice(0, maxWordLength), ...times, ...others }];
}

/** Fetches a song's resource, with or without an envelope. @throws DriverError, a 404 for a song that is gone */
async function fetchClip(upstream: Upstream, path: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await requestTask(upstream, { method: 'GET', path });
    throwOnFailure(answer, new ProviderRedactor(upstream.channel));
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind !== 'rejected') throw error;
    if (!isGone(error) && !isNotFound(error.failure.code)) throw error;
    const message = 'clip_id: the provider no longer has the song.';
    throw rejected(new Failure(404, 'resource_not_found', message));
  }
  if (typeof answer !== 'object' || answer === null) throw invalidResponse();
  return objectField(answer, 'data') ?? answer;
}
