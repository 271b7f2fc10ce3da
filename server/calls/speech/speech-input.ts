import type { OperationRequest } from '../../http/handler.ts';
import type { SpeechInput } from '../../providers/native/speech-request.ts';

/** Reads the fields of the standard speech request. */
export function speechInput(body: OperationRequest<'createSpeech'>['body']): SpeechInput {
  return {
    text: body.input,
    voice: typeof body.voice === 'string' ? body.voice : body.voice.id,
    format: body.response_format,
    speed: body.speed,
    instructions: body.instructions,
    streaming: body.stream_format === 'sse' ? 'events' : body.stream === true ? 'audio' : 'no',
    extraInput: body.extra_body?.input ?? {},
    extraParameters: body.extra_body?.parameters,
  };
}
