import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { countCharacters } from '../billing.ts';
import { clonedTimbre } from '../custom-voices/cloned-timbre.ts';
import { readWav } from '../custom-voices/wav-file.ts';
import { plainDelivery } from '../delivery.ts';
import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { languageTypes } from '../language.ts';
import { obeyTriggers } from '../refusals.ts';
import { findTriggers } from '../triggers.ts';
import type { VoiceTimbre } from '../voices.ts';
import { type Refusal, statusMessages } from './beta-refusals.ts';
import { refusedReply, sendReply, traceId } from './beta-reply.ts';
import type { Parameters } from './parameters.ts';
import { speakText } from './speech.ts';

const maxRecordingBytes = 20 * 1024 * 1024;
const [minSeconds, maxSeconds] = [10, 300];
/** How much of a recording is measured. */
const usedSeconds = 30;
const maxTextCharacters = 1000;
const voiceId = /^[A-Za-z][A-Za-z0-9_-]{6,254}[A-Za-z0-9]$/;
const voiceIdRule = '8 to 256 letters, digits, - and _, a letter first and no - or _ last';
const badParameter = 2013;

interface CloneRequest {
  voiceId: string;
  address: string;
  /** What the demo says; empty for none. */
  text: string;
  language: string | undefined;
  normalizeVolume: boolean;
}

/** `input.action` voice_clone of the beta models: makes a voice with an id of the client's choice. */
export async function cloneBetaVoice(
  exchange: Exchange,
  model: CatalogueModel,
  input: Parameters,
): Promise<void> {
  const request = readRequest(input);
  const triggers = findTriggers(request.text);
  await obeyTriggers(exchange, triggers);
  const asked = triggers.get('base-resp');
  const made = asked === undefined ? await makeTimbre(exchange, request) : { code: asked };
  if ('code' in made) return await sendReply(exchange, refusedReply(exchange, made));

  const demo = await speakDemo(exchange, request, made);
  exchange.services.voices.add({
    id: request.voiceId,
    service: model.id,
    kind: 'cloned',
    targetModel: model.id,
    timbre: made,
    name: request.voiceId,
    language: request.language ?? '',
    recording: request.address,
  });
  await sendReply(exchange, {
    request_id: exchange.requestId,
    output: {
      base_resp: { status_code: 0, status_msg: statusMessages[0] },
      demo_audio: demo,
      input_sensitive: false,
      input_sensitive_type: 0,
      trace_id: traceId(),
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
    address: input.requiredString('audio_url'),
    text: input.has('text') ? input.limitedString('text', maxTextCharacters) : '',
    language: input.string('language_boost'),
    normalizeVolume: input.flag('need_volume_normalization'),
  };
}

/** What is wrong with the id or the recording is the engine's own refusal. */
async function makeTimbre(
  { services, signal }: Exchange,
  { voiceId, address, normalizeVolume }: CloneRequest,
): Promise<VoiceTimbre | Refusal> {
  const field = 'audio_url';
  if (services.voices.find(voiceId)) return bad(`voice_id ${voiceId.slice(0, 100)} is in use`);
  try {
    const file = await services.prompts.load(address, { field, size: maxRecordingBytes, signal });
    const recording = readWav(file, field);
    if (recording.samples.length > maxSeconds * recording.sampleRate) {
      return bad(`${field}: the recording is longer than ${maxSeconds} seconds`);
    }
    return clonedTimbre(recording, { field, minSeconds, used: usedSeconds, normalizeVolume });
  } catch (error) {
    if (error instanceof NativeError) return bad(error.message);
    throw error;
  }
}

async function speakDemo(exchange: Exchange, request: CloneRequest, timbre: VoiceTimbre): Promise<string> {
  if (request.text.trim() === '') return '';
  const file = await speakText(exchange, request.text, {
    timbre,
    language: request.language === undefined ? undefined : languageTypes[request.language],
    delivery: plainDelivery,
    audio: { format: 'mp3', sampleRate: 32000, channels: 1, bitRate: 128_000 },
  });
  return exchange.services.files.put(file, 'mp3');
}

function bad(message: string): Refusal {
  return { code: badParameter, message: `invalid parameter: ${message}` };
}
