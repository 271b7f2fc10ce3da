import type { Handler } from '../../http/handler.ts';
import { requireProtocol } from '../../models/catalogue.ts';
import { type SpeechWish, toNative } from '../../providers/native/speech-request.ts';
import { answerWithAudio, answerWithFile } from './audio-answer.ts';
import { answerNatively } from './native-answer.ts';
import { modelFor, speak } from './speak.ts';

const fields = {
  text: 'input',
  voice: 'voice',
  instructions: 'instructions',
  optimizeInstructions: 'extra_body.input.optimize_instructions',
};

/** Any speech model behind one body: translated to the native route, answered as bytes, chunks or native events. */
export const createSpeech: Handler<'createSpeech'> = async (request, reply) => {
  const { body } = request;
  const model = modelFor(request, body.model);
  if (!model.protocols.includes('synthesizer')) requireProtocol(model, 'multimodal');
  const extraInput = body.extra_body?.input ?? {};
  const wish: SpeechWish = {
    text: body.input,
    voice: typeof body.voice === 'string' ? body.voice : body.voice.id,
    format: body.response_format,
    speed: body.speed,
    instructions: body.instructions,
    streaming: body.stream_format === 'sse' ? 'events' : body.stream === true ? 'audio' : 'no',
    extraInput,
    extraParameters: body.extra_body?.parameters,
  };
  const native = toNative(model, wish);
  const answer =
    wish.streaming === 'events'
      ? answerNatively(reply, model)
      : wish.streaming === 'audio'
        ? answerWithAudio(reply, model, native.format)
        : answerWithFile(reply, model, native.format, request.signal);
  await speak(
    request,
    {
      operation: 'createSpeech',
      model,
      speech: {
        text: wish.text,
        voice: wish.voice,
        instructions: wish.instructions,
        optimizeInstructions: extraInput.optimize_instructions === true,
        fields,
      },
      ssml: extraInput.enable_ssml === true,
      native,
      events: wish.streaming !== 'no',
    },
    answer,
  );
};
