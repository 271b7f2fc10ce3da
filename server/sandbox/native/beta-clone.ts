import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { countCharacters } from '../billing.ts';
import { createClonedTimbre } from '../custom-voices/cloned-timbre.ts';
import { readWav } from '../custom-voices/wav-file.ts';
import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { languageTypes } from '../language.ts';
import { neutralProsody } from '../prosody.ts';
import { applyTriggers } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import type { VoiceTimbre } from '../voices.ts';
import { type EngineError, statusMessages } from './beta-errors.ts';
import { createErrorReply, createTraceId, sendReply } from './beta-reply.ts';
import type { Parameters } from './parameters.ts';
import { speakText } from './speech.ts';

const maxRecordingBytes = 20 * 1024 * 1024;
const [minSeconds, maxSeconds] = [10, 300];
/** Maximum length of the recording that is analyzed. */
const analyzedSeconds = 30;
const maxTextCharacters = 1000;
const voiceId = /^[A-Za-z][A-Za-z0-9_-]{6,254}[A-Za-z0-9]$/;
const voiceIdRule = '8 to 256 letters, digits, - and _, a letter first and no - or _ last';
const invalidParameterCode = 2013;

interface CloneRequest {
  voiceId: string;
  url: string;
  /** Text of the demo. Empty for no demo. */
  text: string;
  language: string | undefined;
  normalizeVolume: boolean;
}

/** `input.action` voice_clone of the beta models: creates a voice with an id chosen by the client. */
export async function cloneBetaVoice(
  exchange: Exchange,
  model: CatalogueModel,
  input: Parameters,
): Promise<void> {
  const request = readRequest(input);
  const triggers = findTriggers(request.text);
  await applyTriggers(exchange, triggers);
  const requestedCode = triggers.get('base-resp');
  const result =
    requestedCode === undefined ? await createTimbre(exchange, request) : { code: requestedCode };
  if ('code' in result) return await sendReply(exchange, createErrorReply(exchange, result));

  const demo = await speakDemo(exchange, request, result);
  exchange.services.voices.add({
    id: request.voiceId,
    service: model.id,
    kind: 'cloned',
    targetModel: model.id,
    timbre: result,
    name: request.voiceId,
    language: request.language ?? '',
    recording: request.url,
  });
  await sendReply(exchange, {
    request_id: exchange.requestId,
    output: {
      base_resp: { status_code: 0, status_msg: statusMessages[0] },
      demo_audio: demo,
      input_sensitive: false,
      input_sensitive_type: 0,
      trace_id: createTraceId(),
    },
    usage: { characters: countCharacters(request.text) },
  });
}

function readRequest(input: Parameters): CloneRequest {
  input.choice('action', ['voice_clone'], 'voice_clone');
  input.object('clone_prompt');
  input.flag('need_noise_reduction');
  input.flag('aigc_watermark');
  return {
    voiceId: input.pattern('voice_id', voiceId, voiceIdRule),
    url: input.requiredString('audio_url'),
    text: input.has('text') ? input.limitedString('text', maxTextCharacters) : '',
    language: input.string('language_boost'),
    normalizeVolume: input.flag('need_volume_normalization'),
  };
}

/** Creates the timbre. An invalid id or recording is an engine error, not an HTTP error. */
async function createTimbre(
  { services, signal }: Exchange,
  { voiceId, url, normalizeVolume }: CloneRequest,
): Promise<VoiceTimbre | EngineError> {
  const field = 'audio_url';
  if (services.voices.find(voiceId)) return invalidParameter(`voice_id ${voiceId.slice(0, 100)} is in use`);
  try {
    const file = await services.prompts.load(url, { field, maxBytes: maxRecordingBytes, signal });
    const recording = readWav(file, field);
    if (recording.samples.length > maxSeconds * recording.sampleRate) {
      return invalidParameter(`${field}: the recording is longer than ${maxSeconds} seconds`);
    }
    return createClonedTimbre(recording, {
      field,
      minSeconds,
      usedSeconds: analyzedSeconds,
      normalizeVolume,
    });
  } catch (error) {
    if (error instanceof NativeError) return invalidParameter(error.message);
    throw error;
  }
}

async function speakDemo(exchange: Exchange, request: CloneRequest, timbre: VoiceTimbre): Promise<string> {
  if (request.text.trim() === '') return '';
  const file = await speakText(exchange, request.text, {
    timbre,
    language: request.language === undefined ? undefined : languageTypes[request.language],
    prosody: neutralProsody,
    audio: { format: 'mp3', sampleRate: 32000, channels: 1, bitRate: 128_000 },
  });
  return exchange.services.files.storeAndSign(file, 'mp3');
}

function invalidParameter(message: string): EngineError {
  return { code: invalidParameterCode, message: `invalid parameter: ${message}` };
}
