import type { components } from '../../../generated/http.ts';
import { Failure } from '../../lib/failure.ts';
import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { askForTask, badAnswer, ProviderRefusal } from '../ask-for-task.ts';
import { field, flagField, numberField, objectField, picked, textField, webAddress } from '../json.ts';
import { ProviderWords } from '../provider-words.ts';
import { isUnknown, refuseFailure } from './envelope.ts';

type Timing = components['schemas']['ClipTimingReply'];

/** More than any song has; what comes after is left out. */
const maxWords = 10_000;
const maxSteps = 100_000;
const maxWordLength = 1_000;

/**
 * The address of a song's WAV file; undefined while there is none.
 *
 * @throws DriverError as `askForTask`; its failure is 404 for a song that the provider knows no more
 */
export async function askForWav(upstream: Upstream, upstreamId: string): Promise<string | undefined> {
  const answer = await ask(upstream, `/sigma/act/wav/${encodeURIComponent(upstreamId)}`);
  const url = webAddress(answer, 'wav_file_url');
  if (url === undefined && textField(answer, 'wav_file_url') !== undefined) throw badAnswer();
  return url;
}

/**
 * When a song's words are sung, and its loudness.
 *
 * @throws DriverError as `askForWav`
 */
export async function askForTiming(upstream: Upstream, upstreamId: string): Promise<Timing> {
  const answer = await ask(upstream, `/sigma/act/timing/${encodeURIComponent(upstreamId)}`);
  const words = field(answer, 'aligned_words');
  const steps = field(answer, 'waveform_data');
  if (!Array.isArray(words)) throw badAnswer();
  const loudness = Array.isArray(steps) ? steps.slice(0, maxSteps) : [];
  return {
    aligned_words: words.slice(0, maxWords).flatMap(wordOf),
    waveform_data: loudness.filter((step) => typeof step === 'number' && Number.isFinite(step)),
    ...picked(['hoot_cer'], (name) => numberField(answer, name)),
    ...picked(['is_streamed'], (name) => flagField(answer, name)),
  };
}

/** A word without a time says nothing. */
function wordOf(reported: unknown): Timing['aligned_words'] {
  const word = field(reported, 'word');
  const [start, end] = [numberField(reported, 'start_s'), numberField(reported, 'end_s')];
  if (typeof word !== 'string' || start === undefined || end === undefined) return [];
  return [
    {
      word: word.slice(0, maxWordLength),
      start_s: Math.max(0, start),
      end_s: Math.max(0, end),
      ...picked(['success'], (name) => flagField(reported, name)),
      ...picked(['p_align'], (name) => numberField(reported, name)),
    },
  ];
}

/** The answer about a song, wrapped or bare. */
async function ask(upstream: Upstream, path: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await askForTask(upstream, { method: 'GET', path });
    refuseFailure(answer, new ProviderWords(upstream.channel));
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind !== 'rejected') throw error;
    const { status, code } = error.failure;
    const refused = error.failure instanceof ProviderRefusal ? error.failure.rejection.status : status;
    throw refused === 404 || refused === 410 || isUnknown(code) ? unknownSong() : error;
  }
  if (typeof answer !== 'object' || answer === null) throw badAnswer();
  return objectField(answer, 'data') ?? answer;
}

function unknownSong(): DriverError {
  const message = 'clip_id: the provider knows the song no more.';
  return new DriverError('rejected', new Failure(404, 'resource_not_found', message));
}
