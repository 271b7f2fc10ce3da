import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { MessageRequest } from '../../index.ts';
import { useClient } from '../session/session.ts';

/** Time without changes after which the tokens are counted. */
const delayMs = 500;

/** Returns the input tokens of the next request. Undefined until they are counted for the first time. */
export function useTokenCount(request: MessageRequest, isPaused: boolean): number | undefined {
  const client = useClient();
  const count = useSignal<number | undefined>(undefined);
  const { model, messages, system, tools, tool_choice, thinking } = request;
  const prompt = { model, messages, system, tools, tool_choice, thinking };
  useEffect(() => {
    if (isPaused) return undefined;
    if (messages.length === 0) {
      count.value = undefined;
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      // A prompt that cannot be counted is reported when it is sent.
      client.messages.countTokens(prompt, { signal: abort.signal, maxRetries: 0 }).then(
        (tokens) => (count.value = tokens),
        () => undefined,
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [request, isPaused]);
  return count.value;
}
