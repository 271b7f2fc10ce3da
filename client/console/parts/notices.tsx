import { type IconNode, TriangleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { APIError, requestIdOf, TaskFailedError } from '../../index.ts';
import { gatewayUrl } from '../session/session.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';

/** An error with its code, which links to the error catalog, and the request id for support. */
export function ErrorNotice({ error }: { error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof APIError || error instanceof TaskFailedError ? error.code : undefined;
  const requestId =
    error instanceof APIError ? error.requestId : error instanceof Error ? requestIdOf(error) : undefined;
  return (
    <div class="notice notice-danger" role="alert">
      <Icon node={TriangleAlert} />
      <div>
        <p>{message}</p>
        <p class="row secondary">
          {code && <a href={`${gatewayUrl}/docs/errors#${code}`}>{code}</a>}
          {requestId && (
            <>
              <code>{requestId}</code>
              <CopyButton text={requestId} label="Copy the request id" />
            </>
          )}
        </p>
      </div>
    </div>
  );
}

/** The content of a page without data: the reason, and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
}: {
  icon: IconNode;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon node={icon} size={28} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A state in words, with a color that repeats the meaning. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  tone?: 'neutral' | 'success' | 'warning' | 'danger' | 'accent';
  children: ComponentChildren;
}) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}
