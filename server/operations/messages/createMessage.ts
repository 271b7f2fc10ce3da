import { continueConversation } from '../../calls/text/continue-conversation.ts';
import type { Handler } from '../../http/handler.ts';

/** Creates the next message of a conversation, complete or as a stream of events. */
export const createMessage: Handler<'createMessage'> = (request, reply) =>
  continueConversation(request, reply);
