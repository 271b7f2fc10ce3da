import { Brain, CircleAlert, Pencil, RotateCcw, Wrench } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Code } from '../calls/call-panel.tsx';
import { Cost } from '../calls/cost.tsx';
import { IconButton } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Badge } from '../parts/notices.tsx';
import { formatCount, formatDuration } from '../parts/numbers.tsx';
import type { AssistantTurn, InputBlock, Turn, UserTurn } from './conversation.ts';
import { BlockImage } from './image.tsx';
import type { OutputBlock } from './reply.ts';

interface TranscriptProps {
  turns: readonly Turn[];
  onEdit: () => void;
  onRetry: () => void;
  /** Shown below the last turn. */
  children?: ComponentChildren;
}

/** Distance from the end within which the transcript follows new text, in pixels. */
const followDistance = 80;

/** The turns of the chat. It follows the text as it arrives, unless the reader scrolled up. */
export function Transcript({ turns, onEdit, onRetry, children }: TranscriptProps) {
  const element = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  useEffect(() => {
    if (content.current === null || element.current === null) return undefined;
    // Also follows what appears later, such as images and costs.
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) element.current?.scrollTo(0, element.current.scrollHeight);
    });
    observer.observe(content.current);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    isFollowing.current = true;
  }, [turns.length]);
  const isStreaming = turns.some((turn) => turn.role === 'assistant' && turn.state === 'streaming');
  const lastUser = turns.findLastIndex(({ role }) => role === 'user');
  return (
    <div
      ref={element}
      class="transcript"
      role="log"
      aria-label="Conversation"
      aria-busy={isStreaming}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        // The text may have grown before this event arrives, so only a scroll upward ends the following.
        if (scrollTop < lastTop.current) isFollowing.current = false;
        if (scrollHeight - scrollTop - clientHeight < followDistance) isFollowing.current = true;
        lastTop.current = scrollTop;
      }}
    >
      <div ref={content} class="transcript-turns">
        {turns.map((turn, index) =>
          turn.role === 'user' ? (
            <UserMessage
              key={index}
              turn={turn}
              actions={
                index === lastUser &&
                !isStreaming && (
                  <>
                    {isText(turn) && <IconButton icon={Pencil} label="Edit" onClick={onEdit} />}
                    {index === turns.length - 1 && (
                      <IconButton icon={RotateCcw} label="Send again" onClick={onRetry} />
                    )}
                  </>
                )
              }
            />
          ) : (
            <AssistantMessage
              key={index}
              turn={turn}
              actions={
                index === turns.length - 1 &&
                !isStreaming && <IconButton icon={RotateCcw} label="Try again" onClick={onRetry} />
              }
            />
          ),
        )}
        {children}
      </div>
    </div>
  );
}

/** Whether a turn was written, and is not a tool result. */
const isText = ({ content }: UserTurn) => content.every(({ type }) => type !== 'tool_result');

function UserMessage({ turn, actions }: { turn: UserTurn; actions: ComponentChildren }) {
  return (
    <article class="turn turn-user" aria-label="You">
      <div class="turn-bubble">{turn.content.map((block, index) => blockView(block, index))}</div>
      <div class="row turn-actions">{actions}</div>
    </article>
  );
}

function AssistantMessage({ turn, actions }: { turn: AssistantTurn; actions: ComponentChildren }) {
  const { state, content, partialInputs, usage, requestId, stopReason } = turn;
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return (
    <article class="turn" aria-label="Model" data-state={state}>
      {content.map((block, index) => blockView(block, index, partialInputs[index]))}
      {state === 'streaming' && <span class="caret" aria-hidden="true" />}
      {state !== 'streaming' && (
        <div class="row turn-facts">
          {state === 'stopped' && <Badge tone="warning">Stopped</Badge>}
          {state === 'failed' && <Badge tone="danger">Failed</Badge>}
          {stopReason && stopReason !== 'end_turn' && <Badge>{stopReason}</Badge>}
          {usage && (
            <span class="numeric">
              {formatCount(usage.input_tokens)} → {formatCount(usage.output_tokens)} tokens
            </span>
          )}
          <Timing turn={turn} />
          {requestId && <Cost requestId={requestId} />}
          <span class="turn-actions">
            {text !== '' && <CopyButton text={text} label="Copy the message" />}
            {actions}
          </span>
        </div>
      )}
    </article>
  );
}

function Timing({ turn: { elapsedMs, firstTokenMs } }: { turn: AssistantTurn }) {
  if (firstTokenMs === undefined) return null;
  return (
    <span class="numeric">
      {formatDuration(elapsedMs)}, first token after {formatDuration(firstTokenMs)}
    </span>
  );
}

/** Shows a block of a message. `partial` is the input of a tool that has not arrived completely. */
function blockView(block: InputBlock | OutputBlock, key: number, partial?: string) {
  // Blocks of other types have no fields that the contract knows.
  const known = block as OutputBlock | Extract<InputBlock, { type: 'tool_result' }>;
  switch (known.type) {
    case 'text':
      return (
        <p key={key} class="turn-text">
          {known.text}
        </p>
      );
    case 'thinking':
      return (
        <details key={key} class="turn-block">
          <summary>
            <Icon node={Brain} /> Thinking
          </summary>
          <p class="turn-text secondary">{known.thinking}</p>
        </details>
      );
    case 'image':
      return <BlockImage key={key} block={known} alt="Image of the conversation" />;
    case 'tool_use':
      return (
        <div key={key} class="turn-block">
          <strong>
            <Icon node={Wrench} /> {known.name}
          </strong>
          <Code
            text={partial ?? JSON.stringify(known.input, undefined, 2)}
            label={`Input of ${known.name}`}
          />
        </div>
      );
    case 'tool_result':
      return (
        <div key={key}>
          <span class="turn-note">
            <Icon node={known.is_error ? CircleAlert : Wrench} size={14} />
            {known.is_error ? 'Tool error' : 'Tool result'}
          </span>
          <p class="turn-text">
            {typeof known.content === 'string' ? known.content : JSON.stringify(known.content)}
          </p>
        </div>
      );
    default:
      return (
        <details key={key} class="turn-block">
          <summary>{known.type}</summary>
          <Code text={JSON.stringify(known, undefined, 2)} label={known.type} />
        </details>
      );
  }
}
