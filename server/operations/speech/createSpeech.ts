import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { respondWithAudio, respondWithFile } from '../../calls/speech/audio-response.ts';
import { respondNatively } from '../../calls/speech/native-response.ts';
import { respondFromSocket } from '../../calls/speech/socket-response.ts';
import { modelFor, type SpeechJob, speak, speakOverSocket } from '../../calls/speech/speak.ts';
import { speechInput } from '../../calls/speech/speech-input.ts';
import type { NamedVoice } from '../../channels/voice-route.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { requireProtocol } from '../../models/catalogue.ts';
import {
  type AudioFormat,
  type NativeSpeechRequest,
  type SpeechInput,
  toNative,
} from '../../providers/native/speech-request.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';

const fields = {
  text: 'input',
  voice: 'voice',
  optimizeInstructions: 'extra_body.input.optimize_instructions',
};

/** Speaks a text with any speech model. Responds with a file, with audio chunks or with native events. */
export const createSpeech: Handler<'createSpeech'> = async (request, reply) => {
  const { job, streaming, format } = speechOf(request);
  const { model } = job;
  if (job.native.route === 'inference') {
    await speakOverSocket(request, reply, job, respondFromSocket(reply, job, format));
    return;
  }
  const respond = {
    no: () => respondWithFile(reply, model, format, request),
    audio: () => respondWithAudio(reply, model, format),
    events: () => respondNatively(request, reply, { model, events: true }),
  }[streaming]();
  await speak(request, reply, job, respond);
};

/** Translates a request for its model. */
export function speechOf(request: OperationRequest<'createSpeech'>): {
  job: SpeechJob;
  streaming: SpeechInput['streaming'];
  format: AudioFormat;
} {
  const { body } = request;
  const model = modelFor(request, body.model);
  if (!canSpeak(model)) requireProtocol(model, 'multimodal');
  const input = speechInput(body);
  const native = toNative(model, input);
  // Instructions are validated as sent, also if they come from `extra_body`.
  const sentField = 'instruction' in native.body.input ? 'instruction' : 'instructions';
  const instructions = native.body.input[sentField];
  const isOwnField = body.instructions !== undefined || instructions === undefined;
  const job: SpeechJob = {
    operation: 'createSpeech',
    model,
    speech: {
      text: input.text,
      voice: input.voice,
      instructions: typeof instructions === 'string' ? instructions : undefined,
      optimizeInstructions: input.extraInput.optimize_instructions === true,
      fields: {
        ...fields,
        instructions: isOwnField ? 'instructions' : `extra_body.input.${sentField}`,
      },
    },
    ssml: input.extraInput.enable_ssml === true,
    native,
    events: native.route === 'inference' ? input.streaming === 'events' : input.streaming !== 'no',
    voices: extraVoices(model, native),
  };
  return { job, streaming: input.streaming, format: native.format };
}

/** Finds the voices that the client names in other fields of the native body. */
function extraVoices({ family }: CatalogueModel, { route, body }: NativeSpeechRequest): NamedVoice[] {
  const protocol = route === 'multimodal' ? 'multimodal' : 'synthesizer';
  const main = family === 'beta' ? 'input.voice_setting.voice_id' : 'input.voice';
  // On the socket route, the client's `parameters.voice` replaces the voice.
  const replaced = route === 'inference' ? ['parameters.voice'] : [];
  return voicesIn(protocol, body, [main, ...replaced]).map((one) => ({
    ...one,
    field: `extra_body.${one.field}`,
  }));
}

/** Whether the model speaks a complete text. */
function canSpeak({ protocols }: CatalogueModel): boolean {
  return protocols.includes('synthesizer') || protocols.includes('inference');
}
