const explanations: Readonly<Record<string, string>> = {
  ENOENT: 'the file or its folder does not exist',
  EACCES: 'access is denied',
  EPERM: 'the operation is not permitted',
  EISDIR: 'it is a folder, not a file',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it exists already',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'there are too many symbolic links',
  EADDRINUSE: 'the address is in use',
};

/** Describes an error of the file system in words, with its code in parentheses. Undefined for other errors. */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (!Object.hasOwn(explanations, error.code)) return undefined;
  const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return `${path}${explanations[error.code]} (${error.code}).`;
}
