import type { components } from '../../../generated/http.ts';
import { Failure } from '../../lib/failure.ts';
import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { booleanField, field, numberField, objectField, pickDefined, textField, urlField } from '../json.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { invalidResponse, ProviderRejection, requestTask } from '../task-request.ts';
import { isNotFound, throwOnFailure } from './envelope.ts';

type Timing = components['schemas']['ClipTimingReply'];

/** More than any song has. The rest is dropped. */
const maxWords = 10_000;
const maxSteps = 100_000;
const maxWordLength = 1_000;

/**
 * Fetches the URL of a song's WAV file. Undefined while there is none.
 *
 * @throws DriverError as `requestTask`, with a 404 for a song that the provider no longer has
 */
export async function fetchWav(upstream: Upstream, upstreamId: string): Promise<string | undefined> {
  const answer = await fetchClip(upstream, `/sigma/act/wav/${encodeURIComponent(upstreamId)}`);
  const url = urlField(answer, 'wav_file_url');
  if (url === undefined && textField(answer, 'wav_file_url') !== undefined) throw invalidResponse();
  return url;
}

/**
 * Fetches the timing of a song's words and its waveform.
 *
 * @throws DriverError as `fetchWav`
 */
export async function fetchTiming(upstream: Upstream, upstreamId: string): Promise<Timing> {
  const answer = await fetchClip(upstream, `/sigma/act/timing/${encodeURIComponent(upstreamId)}`);
  const words = field(answer, 'aligned_words');
  const steps = field(answer, 'waveform_data');
  if (!Array.isArray(words)) throw invalidResponse();
  const loudness = Array.isArray(steps) ? steps.slice(0, maxSteps) : [];
  return {
    aligned_words: words.slice(0, maxWords).flatMap(wordOf),
    waveform_data: loudness.filter((step) => typeof step === 'number' && Number.isFinite(step)),
    ...pickDefined(['hoot_cer'], (name) => numberField(answer, name)),
    ...pickDefined(['is_streamed'], (name) => booleanField(answer, name)),
  };
}

/** Drops a word without a time. */
function wordOf(reported: unknown): Timing['aligned_words'] {
  const word = field(reported, 'word');
  const [start, end] = [numberField(reported, 'start_s'), numberField(reported, 'end_s')];
  if (typeof word !== 'string' || start === undefined || end === undefined) return [];
  return [
    {
      word: word.slice(0, maxWordLength),
      start_s: Math.max(0, start),
      end_s: Math.max(0, end),
      ...pickDefined(['success'], (name) => booleanField(reported, name)),
      ...pickDefined(['p_align'], (name) => numberField(reported, name)),
    },
  ];
}

/** Fetches a song's resource, with or without an envelope. */
async function fetchClip(upstream: Upstream, path: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await requestTask(upstream, { method: 'GET', path });
    throwOnFailure(answer, new ProviderRedactor(upstream.channel));
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind !== 'rejected') throw error;
    const { status, code } = error.failure;
    const rejectedStatus =
      error.failure instanceof ProviderRejection ? error.failure.rejection.status : status;
    throw rejectedStatus === 404 || rejectedStatus === 410 || isNotFound(code) ? songNotFound() : error;
  }
  if (typeof answer !== 'object' || answer === null) throw invalidResponse();
  return objectField(answer, 'data') ?? answer;
}

function songNotFound(): DriverError {
  const message = 'clip_id: the provider no longer has the song.';
  return new DriverError('rejected', new Failure(404, 'resource_not_found', message));
}
