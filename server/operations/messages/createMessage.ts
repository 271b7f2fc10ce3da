import { continueConversation } from '../../calls/text/continue-conversation.ts';
import type { Handler } from '../../http/handler.ts';

/** The next message of a conversation, whole or as events, from whichever provider serves the model. */
export const createMessage: Handler<'createMessage'> = (request, reply) =>
  continueConversation(request, reply);
