// Package postgres runs a private PostgreSQL server out of nothing: it finds
// or fetches the binaries, makes a cluster, starts it on a free port of
// 127.0.0.1 with a random password, and never lets it outlive the process that
// started it. It is for tests and for the sample server; it does not tune,
// back up or upgrade a database that anybody depends on.
//
// # Binaries
//
// [Find] takes the first that it finds of: the folder that [EnvBinaries]
// names, the PATH, the folders where Debian, Red Hat, Homebrew and Postgres.app
// install, and a build fetched once from Maven Central (see [EnvRepository]).
//
// # Root
//
// PostgreSQL refuses to run as root, and containers run tests as root. The
// server then runs as the user postgres, or nobody, or whoever owns the
// cluster that is already there. Its folder and its binaries must be reachable
// for that user; [Start] says so where they are not.
//
// # Death of the parent
//
// A shell stands between this process and the server, and reads a pipe whose
// other end this process holds. When the pipe ends, however this process died,
// the shell stops the server; another one removes a temporary folder. Linux
// has a signal for a parent's death, but it is bound to the thread that forked,
// and Go ends threads as it likes. Where there is no such shell (Windows), a
// process that is killed leaves its server running.
package postgres
