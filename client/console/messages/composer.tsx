import { useSignal } from '@preact/signals';
import { ArrowUp, ImagePlus, Square, X } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { Button, IconButton } from '../parts/button.tsx';
import type { Attachments } from './attachments.ts';
import { focusIfLost } from './focus.ts';
import { BlockImage } from './image.tsx';

interface ComposerProps {
  text: string;
  attachments: Attachments;
  isStreaming: boolean;
  onInput: (text: string) => void;
  onSend: () => void;
  onStop: () => void;
}

/** The next message: text and images. Enter sends it. */
export function Composer({ text, attachments, isStreaming, onInput, onSend, onStop }: ComposerProps) {
  const picker = useRef<HTMLInputElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const isDropTarget = useSignal(false);
  useEffect(() => {
    if (area.current === null) return;
    area.current.style.height = 'auto';
    area.current.style.height = `${area.current.scrollHeight + 2}px`;
    focusIfLost(area.current);
  }, [text]);
  const add = (files: FileList | undefined) => void attachments.add([...(files ?? [])]);
  const isEmpty = text.trim() === '' && attachments.files.value.length === 0;
  return (
    <form
      class="composer"
      data-drop={isDropTarget.value}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isStreaming && !isEmpty) onSend();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        isDropTarget.value = true;
      }}
      onDragLeave={() => (isDropTarget.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isDropTarget.value = false;
        add(event.dataTransfer?.files);
      }}
    >
      {attachments.files.value.length > 0 && (
        <ul class="composer-images">
          {attachments.files.value.map((file) => (
            <li key={file}>
              <BlockImage block={file.block} alt={file.name} />
              <Button small icon={X} label={`Remove ${file.name}`} onClick={() => attachments.remove(file)} />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={area}
        class="composer-text"
        rows={1}
        aria-label="Message"
        placeholder="Write a message"
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
        onPaste={(event) => {
          const { files } = event.clipboardData ?? {};
          if (files === undefined || files.length === 0) return;
          event.preventDefault();
          add(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="row-between">
        <IconButton icon={ImagePlus} label="Add images" onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          hidden
          multiple
          accept={attachments.types.join(',')}
          onChange={(event) => {
            add(event.currentTarget.files ?? undefined);
            event.currentTarget.value = '';
          }}
        />
        {isStreaming ? (
          <Button small icon={Square} onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button small submit variant="primary" icon={ArrowUp} disabled={isEmpty}>
            Send
          </Button>
        )}
      </div>
      {attachments.problem.value && (
        <p class="field-error" role="alert">
          {attachments.problem.value}
        </p>
      )}
    </form>
  );
}
