import { computed, signal } from '@preact/signals';
import type { components, MessageEvent } from '../../index.ts';
import { applyEvent, emptyReply, type OutputBlock, type Reply } from './reply.ts';

type Schemas = components['schemas'];
export type InputBlock = Schemas['InputContentBlock'];
export type InputMessage = Schemas['InputMessage'];
export type ImageBlock = Schemas['InputImageBlock'];

export interface UserTurn {
  role: 'user';
  content: readonly InputBlock[];
}

export interface AssistantTurn extends Reply {
  role: 'assistant';
  state: 'streaming' | 'done' | 'stopped' | 'failed';
  requestId: string | undefined;
  /** Time from the request to the first text, thinking or tool input. Undefined before it. */
  firstTokenMs: number | undefined;
  /** Time from the request to the last event. */
  elapsedMs: number;
}

export type Turn = UserTurn | AssistantTurn;

/** Events of a message, with the id of the request once the first one has arrived. */
interface Events extends AsyncIterable<MessageEvent> {
  readonly requestId: string | undefined;
}

/** The turns of a chat, oldest first. */
export class Conversation {
  readonly turns = signal<readonly Turn[]>([]);

  /** The turns in the form of a request. A turn without content is left out. */
  readonly messages = computed<InputMessage[]>(() =>
    this.turns.value.map(toMessage).filter(({ content }) => content.length > 0),
  );

  /** Calls of tools in the last turn, which need a result before the conversation continues. */
  readonly openToolUses = computed<readonly Schemas['ToolUseBlock'][]>(() => {
    const last = this.turns.value.at(-1);
    if (last?.role !== 'assistant' || last.state === 'streaming') return [];
    return last.content.filter((block) => block.type === 'tool_use');
  });

  /** Appends a turn of the user. */
  say(content: readonly InputBlock[]): void {
    this.turns.value = [...this.turns.peek(), { role: 'user', content }];
  }

  /** Removes the answers after the last turn of the user. */
  dropAnswer(): void {
    const turns = this.turns.peek();
    this.turns.value = turns.slice(0, turns.findLastIndex(({ role }) => role === 'user') + 1);
  }

  /** Removes the last turn of the user with its answer, and returns its content. */
  removeLastQuestion(): readonly InputBlock[] {
    this.dropAnswer();
    const last = this.turns.peek().at(-1);
    this.turns.value = this.turns.peek().slice(0, -1);
    return last?.role === 'user' ? last.content : [];
  }

  clear(): void {
    this.turns.value = [];
  }

  /** Appends the next message while its events arrive. Throws the error that ends them. */
  async receive(events: Events, abort: AbortSignal): Promise<void> {
    const before = this.turns.peek();
    const startedAt = performance.now();
    let turn: AssistantTurn = {
      ...emptyReply,
      role: 'assistant',
      state: 'streaming',
      requestId: undefined,
      firstTokenMs: undefined,
      elapsedMs: 0,
    };
    const update = (change: Partial<AssistantTurn>) => {
      turn = { ...turn, ...change, elapsedMs: performance.now() - startedAt };
      this.turns.value = [...before, turn];
    };
    update({});
    try {
      for await (const event of events) {
        const firstTokenMs =
          event.type === 'content_block_delta'
            ? (turn.firstTokenMs ?? performance.now() - startedAt)
            : turn.firstTokenMs;
        update({ ...applyEvent(turn, event), requestId: events.requestId, firstTokenMs });
      }
      update({ state: 'done' });
    } catch (error) {
      update({ state: abort.aborted ? 'stopped' : 'failed', requestId: events.requestId });
      throw error;
    }
  }
}

function toMessage(turn: Turn): InputMessage {
  const content = turn.role === 'user' ? [...turn.content] : turn.content.flatMap(toInput);
  const [first] = content;
  const isText = content.length === 1 && first?.type === 'text' && Object.keys(first).length === 2;
  return { role: turn.role, content: isText && 'text' in first ? String(first.text) : content };
}

/**
 * The model's blocks are sent back unchanged, except generated images, which requests describe differently. Thinking that
 * was interrupted has no signature and is left out.
 */
function toInput(block: OutputBlock): InputBlock[] {
  if (block.type === 'thinking' && block.signature === '') return [];
  if (block.type !== 'image') return [block];
  const { image_url, inline_data } = block;
  if (inline_data !== undefined) return [imageBlock(inline_data.mime_type, inline_data.data)];
  const url = image_url?.url ?? '';
  return url.startsWith('http') ? [{ type: 'image', source: { type: 'url', url } }] : [];
}

type ImageType = Schemas['Base64ImageSource']['media_type'];

/** Returns the block of an inline image. The gateway checks the media type. */
export const imageBlock = (mediaType: string, data: string): ImageBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: mediaType as ImageType, data },
});
