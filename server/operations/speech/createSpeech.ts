import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { respondWithAudio, respondWithFile } from '../../calls/speech/audio-response.ts';
import { respondNatively } from '../../calls/speech/native-response.ts';
import { respondFromSocket } from '../../calls/speech/socket-response.ts';
import { modelFor, type SpeechJob, speak, speakOverSocket } from '../../calls/speech/speak.ts';
import type { NamedVoice } from '../../channels/voice-route.ts';
import type { Handler } from '../../http/handler.ts';
import { requireProtocol } from '../../models/catalogue.ts';
import {
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

/** Any speech model behind one body: translated to the native route, answered as bytes, chunks or native events. */
export const createSpeech: Handler<'createSpeech'> = async (request, reply) => {
  const { body } = request;
  const model = modelFor(request, body.model);
  if (!speaks(model)) requireProtocol(model, 'multimodal');
  const extraInput = body.extra_body?.input ?? {};
  const input: SpeechInput = {
    text: body.input,
    voice: typeof body.voice === 'string' ? body.voice : body.voice.id,
    format: body.response_format,
    speed: body.speed,
    instructions: body.instructions,
    streaming: body.stream_format === 'sse' ? 'events' : body.stream === true ? 'audio' : 'no',
    extraInput,
    extraParameters: body.extra_body?.parameters,
  };
  const native = toNative(model, input);
  // What is checked is what is sent, wherever it came from.
  const sent = 'instruction' in native.body.input ? 'instruction' : 'instructions';
  const instructions = native.body.input[sent];
  const own = body.instructions !== undefined || instructions === undefined;
  const job: SpeechJob = {
    operation: 'createSpeech',
    model,
    speech: {
      text: input.text,
      voice: input.voice,
      instructions: typeof instructions === 'string' ? instructions : undefined,
      optimizeInstructions: extraInput.optimize_instructions === true,
      fields: {
        ...fields,
        instructions: own ? 'instructions' : `extra_body.input.${sent}`,
      },
    },
    ssml: extraInput.enable_ssml === true,
    native,
    events: native.route === 'inference' ? input.streaming === 'events' : input.streaming !== 'no',
    voices: extraVoices(model, native),
  };
  const { format } = native;
  if (native.route === 'inference') {
    await speakOverSocket(request, reply, job, respondFromSocket(reply, job, format));
    return;
  }
  const answer = {
    no: () => respondWithFile(reply, model, format, request),
    audio: () => respondWithAudio(reply, model, format),
    events: () => respondNatively(request, reply, { model, events: true }),
  }[input.streaming]();
  await speak(request, reply, job, answer);
};

/** What the rest of the native body, which is the client's own, might name as voices. */
function extraVoices({ family }: CatalogueModel, { route, body }: NativeSpeechRequest): NamedVoice[] {
  const protocol = route === 'multimodal' ? 'multimodal' : 'synthesizer';
  const main = family === 'beta' ? 'input.voice_setting.voice_id' : 'input.voice';
  // Over the socket both become one, in which the client's voice wins.
  const replaced = route === 'inference' ? ['parameters.voice'] : [];
  return voicesIn(protocol, body, [main, ...replaced]).map((one) => ({
    ...one,
    field: `extra_body.${one.field}`,
  }));
}

/** Whether some way of speaking a text at once leads to the model. */
function speaks({ protocols }: CatalogueModel): boolean {
  return protocols.includes('synthesizer') || protocols.includes('inference');
}
