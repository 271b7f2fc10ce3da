import { randomBytes } from 'node:crypto';
import type { Meter } from '../billing.ts';
import { EventStream, requestsEvents } from '../http/event-stream.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { type BetaOptions, type EngineError, invisibleRatio, statusMessages } from './beta-errors.ts';
import type { FinishedSpeech, SpeechRequest, SpeechWriter } from './speech.ts';

const statusRunning = 1;
const statusFinished = 2;

/** Creates the response for an engine error. */
export function createErrorReply({ requestId }: Exchange, { code, message }: EngineError): object {
  return {
    request_id: requestId,
    output: {
      base_resp: { status_code: code, status_msg: message ?? statusMessages[code] ?? 'unknown error' },
      data: null,
      extra_info: null,
      trace_id: createTraceId(),
    },
    usage: { characters: 0 },
  };
}

/** Sends a response without speech, as a single event if the client requests events. */
export async function sendReply(exchange: Exchange, reply: object): Promise<void> {
  if (!requestsEvents(exchange)) return sendJson(exchange, 200, reply);
  const events = new EventStream(exchange);
  await events.send(reply);
  events.end();
}

/** Creates the writer of the beta models. `data.status` is 1 while running and 2 at the end. */
export function betaWriter(exchange: Exchange, request: SpeechRequest, options: BetaOptions): SpeechWriter {
  const trace = createTraceId();
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
    body: (speech) => {
      const audio = options.url ? speech.url() : speech.audio().toString('hex');
      const subtitles = options.subtitles ? { subtitle_file: storeSubtitles(exchange, speech) } : {};
      return reply({ audio, status: statusFinished, ...subtitles }, speech.meter);
    },
    audio: (_index, { data }, meter) => reply({ audio: data.toString('hex'), status: statusRunning }, meter),
    last: ({ audio, meter }) =>
      reply({ audio: options.aggregate ? audio().toString('hex') : '', status: statusFinished }, meter),
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

/** Stores a JSON file with the times of each sentence in milliseconds and its position in the text. */
function storeSubtitles({ services }: Exchange, { timings }: FinishedSpeech): string {
  let position = 0;
  const subtitles = timings.map(({ text, begin, end }) => {
    const text_begin = position;
    position += text.length;
    return { text, time_begin: begin, time_end: end, text_begin, text_end: position };
  });
  return services.files.storeAndSign(Buffer.from(JSON.stringify(subtitles)), 'json');
}

export function createTraceId(): string {
  return randomBytes(16).toString('hex');
}
