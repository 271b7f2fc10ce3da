import { countCharacters, type Meter } from '../billing.ts';
import { requestsEvents } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { resolveModel } from '../models.ts';
import { splitText, stripSsml } from '../sentences.ts';
import { Parameters } from './parameters.ts';
import type { SpeechWriter } from './speech.ts';
import { respondWithSpeech } from './speech-response.ts';
import { formatWord, readSynthesisOptions, synthesisUsage } from './synthesis.ts';

/** Limit in billed characters. */
const maxTextCharacters = 20_000;

/** `POST /api/v1/services/audio/tts/SpeechSynthesizer`: the voxa and alpha-audio models. All options are in `input`. */
export async function synthesizeSpeech(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange.request);
  const model = resolveModel(body.model, 'synthesizer');
  const input = new Parameters(body, '').requiredObject('input');
  const options = readSynthesisOptions(input, model, exchange.services.voices);

  const rawText = input.requiredString('text');
  const text = options.isSsml ? stripSsml(rawText) : rawText;
  if (text.trim() === '') throw input.invalid('text', 'contains no text to speak');
  if (countCharacters(text) > maxTextCharacters) {
    throw input.invalid(
      'text',
      `must not be longer than ${maxTextCharacters} characters (an ideograph counts as 2)`,
    );
  }
  const speech = { ...options, text, sentences: splitText(text, { markdown: options.markdown }) };
  const writer = synthesizerWriter(exchange, model.unit === 'tokens', options.reportsWordTimes);
  await respondWithSpeech(exchange, speech, writer, requestsEvents(exchange));
}

function synthesizerWriter({ requestId, services }: Exchange, tokens: boolean, timed: boolean): SpeechWriter {
  const audioFields = { id: `audio_${requestId}`, expires_at: services.files.defaultExpirySeconds() };
  const usage = (meter: Meter) => synthesisUsage(meter, tokens);
  const running = (
    type: string,
    output: { original_text?: string; index: number; words?: object[]; data?: string },
  ) => ({
    request_id: requestId,
    output: {
      finish_reason: 'null',
      type,
      ...(output.original_text !== undefined && { original_text: output.original_text }),
      sentence: { index: output.index, words: output.words ?? [] },
      audio: { data: output.data ?? '', ...audioFields },
    },
  });
  const finished = (meter: Meter, url: string) => ({
    request_id: requestId,
    output: { finish_reason: 'stop', audio: { data: '', url, ...audioFields } },
    usage: usage(meter),
  });
  return {
    body: ({ meter, url }) => finished(meter, url()),
    begin: (index, { text }) => running('sentence-begin', { index, original_text: text }),
    audio: (index, { data, words }) =>
      running('sentence-synthesis', {
        index,
        data: data.toString('base64'),
        words: timed ? words.map(formatWord) : [],
      }),
    end: (index, { text }, meter) => ({
      ...running('sentence-end', { index, original_text: text }),
      usage: usage(meter),
    }),
    last: ({ meter, url }) => finished(meter, url()),
  };
}
