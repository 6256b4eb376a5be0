//! A server that is started on a free loopback port, and gone when this value is dropped.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub struct Server {
    process: Child,
    commands: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    folder: Folder,
    pub port: u16,
}

impl Server {
    /// Starts `program` with these arguments, and others of our own, and this VCL. In debug mode (`-d`) it takes
    /// commands from a pipe and ends when the pipe closes, so that it goes even if we are killed.
    pub fn start(program: &Path, args: &[&str], vcl: &str) -> io::Result<Server> {
        let folder = Folder::new()?;
        let file = folder.write("boot.vcl", vcl)?;
        let mut process = Command::new(program)
            .args(["-d", "-j", "none", "-a", "127.0.0.1:0", "-s", "default,10m"])
            .args(args)
            .arg("-n")
            .arg(folder.work())
            .arg("-f")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C reaches us alone, and we stop the server
            .process_group(0)
            .spawn()
            .map_err(|e| io::Error::other(format!("cannot start {}: {e}", program.display())))?;
        let stderr = process.stderr.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut text = Vec::new();
                pipe.read_to_end(&mut text).ok();
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let mut server = Server {
            commands: process.stdin.take(),
            replies: BufReader::new(process.stdout.take().expect("stdout is piped")),
            process,
            folder,
            port: 0,
        };
        match server.begin() {
            Ok(port) => {
                server.port = port;
                Ok(server)
            }
            Err(error) => {
                drop(server);
                let text = stderr.and_then(|t| t.join().ok()).unwrap_or_default();
                Err(io::Error::other(format!("{error}\n{text}")))
            }
        }
    }

    fn begin(&mut self) -> io::Result<u16> {
        read_reply(&mut self.replies)?; // the banner
        self.command("start")?;
        let addresses = self.command("debug.listen_address")?;
        listen_port(&addresses).ok_or_else(|| io::Error::other(format!("no port in \"{addresses}\"")))
    }

    /// What a command on the command line interface gives, an error if it fails.
    pub fn command(&mut self, line: &str) -> io::Result<String> {
        if let Some(pipe) = &mut self.commands {
            writeln!(pipe, "{line}")?;
        }
        let (status, body) = read_reply(&mut self.replies)?;
        if status == 200 {
            Ok(body)
        } else {
            Err(io::Error::other(format!("\"{line}\" gave {status}: {body}")))
        }
    }

    /// Loads this VCL under a name.
    pub fn load(&mut self, name: &str, vcl: &str) -> io::Result<()> {
        let file = self.folder.write("next.vcl", vcl)?;
        self.command(&format!("vcl.load {name} {}", file.display()))?;
        Ok(())
    }

    /// The process that does the work, a child of the one that was started.
    pub fn worker(&mut self) -> io::Result<u32> {
        let text = self.command("pid")?;
        worker_pid(&text).ok_or_else(|| io::Error::other(format!("no worker in \"{text}\"")))
    }

    /// The folder that other programs of the server want after `-n`.
    pub fn work(&self) -> PathBuf {
        self.folder.work()
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.commands.take(); // end of input: the server stops its child and ends
        let give_up = Instant::now() + Duration::from_secs(5);
        while self.is_running() && Instant::now() < give_up {
            thread::sleep(Duration::from_millis(20));
        }
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A reply on the command line interface: status and length in one line, then the text.
fn read_reply(from: &mut impl BufRead) -> io::Result<(u16, String)> {
    let mut line = String::new();
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Err(io::Error::other("the server ended"));
        }
        let mut words = line.split_whitespace().map(str::parse::<usize>);
        if let (Some(Ok(status)), Some(Ok(length)), None) = (words.next(), words.next(), words.next()) {
            let mut body = vec![0; length + 1];
            from.read_exact(&mut body)?;
            let text = String::from_utf8_lossy(&body).trim_end().to_owned();
            return Ok((status as u16, text));
        }
        // Anything else is the child's chatter
    }
}

/// The port in "a0 127.0.0.1 34567".
fn listen_port(addresses: &str) -> Option<u16> {
    addresses.lines().next()?.split(' ').nth(2)?.parse().ok()
}

/// The process in "Worker: 1234".
fn worker_pid(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("Worker:"))?.trim().parse().ok()
}

/// A folder of our own, removed with what is in it.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("probe_directors-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Folder { path })
    }

    fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let file = self.path.join(name);
        fs::write(&file, text)?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_between_other_lines() {
        let mut bytes = &b"Debug: Child started\n200 5       \nhello\n"[..];
        assert_eq!(read_reply(&mut bytes).unwrap(), (200, "hello".to_owned()));
        assert!(read_reply(&mut bytes).is_err());
    }

    #[test]
    fn the_port_of_a_listen_address() {
        assert_eq!(listen_port("a0 127.0.0.1 34567\n"), Some(34567));
        assert_eq!(listen_port(""), None);
    }

    #[test]
    fn the_worker_of_two_processes() {
        assert_eq!(worker_pid("Master: 12\nWorker: 34\n"), Some(34));
        assert_eq!(worker_pid("Master: 12\n"), None);
    }
}
