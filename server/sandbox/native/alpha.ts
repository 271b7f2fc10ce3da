import { type CatalogueModel, families } from '../../../generated/catalogue.ts';
import { countSpokenTokens, type Meter } from '../billing.ts';
import { requestsEvents } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { invalidParameter } from '../http/native-error.ts';
import { languageTypes } from '../language.ts';
import { splitText } from '../sentences.ts';
import { alphaAudio } from './audio-settings.ts';
import type { Parameters } from './parameters.ts';
import type { SpeechWriter } from './speech.ts';
import { respondWithSpeech } from './speech-response.ts';
import { readInstructions, readVoice } from './voice-fields.ts';

/**
 * Handles the alpha3 and legacy models. The response is a URL of a WAV file at 24 kHz, or PCM events with that URL in
 * the last one.
 */
export async function generateAlphaSpeech(
  exchange: Exchange,
  model: CatalogueModel,
  input: Parameters,
): Promise<void> {
  const text = input.requiredString('text');
  if (text.trim() === '') throw invalidParameter('input.text contains no text to speak');
  checkLength(text, model);
  const timbre = readVoice(exchange.services.voices, model, input, 'voice');
  const language = languageTypes[input.choice('language_type', Object.keys(languageTypes), 'Auto')];
  const prosody = readInstructions(input, model);
  const streaming = requestsEvents(exchange);
  const audio = alphaAudio(streaming);
  const speech = { text, sentences: splitText(text), timbre, language, prosody, audio };
  await respondWithSpeech(exchange, speech, alphaWriter(exchange, model.unit === 'tokens'), streaming);
}

function checkLength(text: string, { id, family }: CatalogueModel): void {
  const { maxCharacters, maxTokens } = families[family];
  if (maxCharacters !== undefined && Array.from(text).length > maxCharacters) {
    throw invalidParameter(`input.text must not be longer than ${maxCharacters} characters for model ${id}`);
  }
  if (maxTokens !== undefined && countSpokenTokens(text) > maxTokens) {
    throw invalidParameter(`input.text must not be longer than ${maxTokens} tokens for model ${id}`);
  }
}

function alphaWriter({ requestId, services }: Exchange, tokens: boolean): SpeechWriter {
  const audioFields = { id: `audio_${requestId}`, expires_at: services.files.defaultExpirySeconds() };
  const usage = tokens ? tokenUsage : characterUsage;
  const finished = (meter: Meter, url: string) => ({
    output: { finish_reason: 'stop', audio: { data: '', url, ...audioFields } },
    usage: usage(meter),
    request_id: requestId,
  });
  return {
    body: ({ meter, url }) => finished(meter, url()),
    audio: (_index, { data }) => ({
      output: {
        finish_reason: 'null',
        audio: {
          data: data.toString('base64'),
          url: '',
          ...audioFields,
        },
      },
      request_id: requestId,
    }),
    last: ({ meter, url }) => finished(meter, url('wav')),
  };
}

function characterUsage({ characters }: Meter): object {
  return { characters, input_tokens: 0, output_tokens: 0 };
}

function tokenUsage({ textTokens, audioTokens }: Meter): object {
  return {
    input_tokens: textTokens,
    output_tokens: audioTokens,
    total_tokens: textTokens + audioTokens,
    input_tokens_details: { text_tokens: textTokens },
    output_tokens_details: { audio_tokens: audioTokens, text_tokens: 0 },
    characters: 0,
  };
}
