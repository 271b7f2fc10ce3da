import { randomBytes } from 'node:crypto';
import type { Meter } from '../billing.ts';
import { EventStream, wantsEvents } from '../http/event-stream.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { type BetaOptions, invisibleRatio, type Refusal, statusMessages } from './beta-refusals.ts';
import type { FinishedSpeech, SpeechRequest, SpeechWriter } from './speech.ts';

const running = 1;
const ended = 2;

/** The answer to a request that the engine refuses. */
export function refusedReply({ requestId }: Exchange, { code, message }: Refusal): object {
  return {
    request_id: requestId,
    output: {
      base_resp: { status_code: code, status_msg: message ?? statusMessages[code] ?? 'unknown error' },
      data: null,
      extra_info: null,
      trace_id: traceId(),
    },
    usage: { characters: 0 },
  };
}

/** Sends a reply that is not speech: as the one event, if events are wanted. */
export async function sendReply(exchange: Exchange, reply: object): Promise<void> {
  if (!wantsEvents(exchange)) return sendJson(exchange, 200, reply);
  const events = new EventStream(exchange);
  await events.send(reply);
  events.end();
}

/** Writes the beta models' replies: one shape for all, `data.status` 1 while running and 2 at the end. */
export function betaWriter(exchange: Exchange, request: SpeechRequest, options: BetaOptions): SpeechWriter {
  const trace = traceId();
  const textInfo = {
    word_count: countWords(request.text),
    invisible_character_ratio: invisibleRatio(request.text),
  };
  const reply = (data: { audio: string; status: number; subtitle_file?: string }, meter: Meter) => ({
    request_id: exchange.requestId,
    output: {
      base_resp: { status_code: 0, status_msg: statusMessages[0] },
      data,
      extra_info: { ...audioInfo(request, meter), ...textInfo, usage_characters: meter.characters },
      trace_id: trace,
    },
    usage: { characters: meter.characters },
  });
  return {
    whole: (speech) => {
      const audio = options.url ? speech.url() : speech.audio().toString('hex');
      const subtitles = options.subtitles ? { subtitle_file: storeSubtitles(exchange, speech) } : {};
      return reply({ audio, status: ended, ...subtitles }, speech.meter);
    },
    audio: (_index, { data }, meter) => reply({ audio: data.toString('hex'), status: running }, meter),
    last: ({ audio, meter }) =>
      reply({ audio: options.aggregate ? audio().toString('hex') : '', status: ended }, meter),
  };
}

function audioInfo({ audio }: SpeechRequest, meter: Meter): object {
  const { format, sampleRate, channels, bitRate } = audio;
  return {
    audio_length: Math.round(meter.seconds * 1000),
    audio_sample_rate: sampleRate,
    audio_size: meter.audioBytes,
    audio_format: format,
    audio_channel: channels,
    bitrate: format === 'mp3' ? bitRate : sampleRate * channels * 16,
  };
}

function countWords(text: string): number {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return Array.from(segments).filter((segment) => segment.isWordLike).length;
}

/** A JSON file with the times of each sentence in milliseconds and its place in the text. */
function storeSubtitles({ services }: Exchange, { timings }: FinishedSpeech): string {
  let position = 0;
  const subtitles = timings.map(({ text, begin, end }) => {
    const text_begin = position;
    position += text.length;
    return { text, time_begin: begin, time_end: end, text_begin, text_end: position };
  });
  return services.files.put(Buffer.from(JSON.stringify(subtitles)), 'json');
}

export function traceId(): string {
  return randomBytes(16).toString('hex');
}
